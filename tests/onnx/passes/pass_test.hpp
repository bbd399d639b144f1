// What tests of passes have in common: a graph as text before and after one pass, and equal numbers.
#pragma once

#include <cmath>

#include "stoker/api/onnx/optimize/optimize.hpp"
#include "stoker/api/onnx/run/node_evaluation.hpp"
#include "stoker/tests/onnx/passes/graph_text.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {

class PassTest : public OnnxTest {
 protected:
  /// All that change graphs but these, and the one that takes away what they leave over.
  [[nodiscard]] static std::vector<std::string> all_but(const std::vector<std::string>& passes) {
    std::vector<std::string> others = names_of_rewriting_passes();
    std::erase_if(others, [&](const std::string& one) {
      return one == "dead_nodes" || std::ranges::find(passes, one) != passes.end();
    });
    return others;
  }

  [[nodiscard]] std::shared_ptr<const ModelFile> file_of(Graph graph) const {
    auto file = std::make_shared<ModelFile>();
    file->ir_version = 10;
    file->opsets = {{"", opset}};
    file->graph = std::move(graph);
    return file;
  }

  [[nodiscard]] Graph rewritten(const Graph& before, const std::vector<std::string>& passes) const {
    const OperatorTable& operators = OperatorTable::standard();
    return optimized(file_of(before), chosen_passes(Optimize::all, all_but(passes)), operators,
                     node_evaluation(operators, device_))
        ->graph;
  }

  /// The pass makes `after` of `before`, and both give the same numbers.
  void expect(const std::string& pass, const std::string& before, const std::string& after) const {
    const Graph graph = GraphText::parse(before, opset);
    EXPECT_EQ(GraphText::print(rewritten(graph, {pass}), graph), after);
    expect_equal_numbers(graph, {pass});
  }
  /// The pass changes nothing.
  void expect_left(const std::string& pass, const std::string& before) const {
    const Graph graph = GraphText::parse(before, opset);
    EXPECT_EQ(GraphText::print(rewritten(graph, {pass}), graph), GraphText::print(graph, graph));
  }

  void expect_equal_numbers(const Graph& graph, const std::vector<std::string>& passes) const {
    NamedValues inputs;
    for (const ValueInfo& input : graph.inputs)
      if (graph.initializer(input.name) == nullptr) inputs.emplace(input.name, some(input.type));
    const NamedValues expected =
        load(file_of(graph), {.device = device_, .optimize = Optimize::none}).run(inputs).get();
    const NamedValues got =
        load(file_of(graph), {.device = device_, .without = all_but(passes)}).run(inputs).get();
    ASSERT_EQ(got.size(), expected.size());
    for (const auto& [name, value] : expected) {
      ASSERT_EQ(got.at(name).type(), value.type()) << name;
      ASSERT_EQ(got.at(name).shape(), value.shape()) << name;
      const auto a = got.at(name).tensor().to_vector<double>();
      const auto b = value.tensor().to_vector<double>();
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], 2e-6 + 2e-5 * std::abs(b[i])) << name << " at " << i;
    }
  }

  /// Numbers between -2 and 2, the same each time; a symbol is 2.
  static Value some(const ValueType& type) {
    Axes extents;
    for (const Dimension& dim : *type.dims) extents.push_back(dim.extent.value_or(2));
    const Shape shape = shape_of(extents);
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      numbers.push_back(static_cast<double>((i * 37 + 11) % 64) / 16 - 2);
    return {Known::reals(numbers, shape, type.element).tensor(), type.element};
  }

  std::int64_t opset = 21;
};

}  // namespace stoker::onnx
