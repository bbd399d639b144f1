// What tests of a precision have in common: a graph before and after, what stays in f32 and why, and near numbers.
#pragma once

#include "stoker/api/onnx/optimize/narrowing.hpp"
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {

class Precisions : public PassTest {
 protected:
  [[nodiscard]] Narrowed narrowed(const Graph& graph, Precision precision = Precision::f16) const {
    const OperatorTable& operators = OperatorTable::standard();
    return with_precision(file_of(graph), precision, operators, node_evaluation(operators, device_),
                          gpu);
  }
  void expect_narrow(const std::string& before, const std::string& after,
                     Precision precision = Precision::f16) const {
    const Graph graph = GraphText::parse(before, opset);
    EXPECT_EQ(GraphText::print(narrowed(graph, precision).file->graph, graph), after);
  }
  void expect_left(const std::string& before) const { expect_narrow(before, printed(before)); }
  [[nodiscard]] std::string printed(const std::string& text) const {
    const Graph graph = GraphText::parse(text, opset);
    return GraphText::print(graph, graph);
  }
  /// "Exp 1: it is sensitive to rounding (the node of 'e' (Exp))", a line each.
  static std::string kept_in(const PrecisionReport& report) {
    std::string text;
    for (const PrecisionReport::Kept& kept : report.kept)
      text += kept.name + ' ' + std::to_string(kept.nodes) + ": " + kept.why + " (" + kept.first +
              ")\n";
    return text;
  }
  [[nodiscard]] std::string kept(const std::string& text,
                                 Precision precision = Precision::f16) const {
    return kept_in(narrowed(GraphText::parse(text, opset), precision).report);
  }

  [[nodiscard]] static LoadOptions in(Precision precision, Optimize level, const Device& device) {
    return {.device = device, .optimize = level, .precision = precision};
  }
  /// Of a graph with inputs x and yes.
  void expect_near_both_ways(const Graph& graph) {
    for (const bool yes : {true, false})
      for (const Optimize level : {Optimize::none, Optimize::basic, Optimize::all}) {
        const Value condition{full(Shape{}, yes ? 1 : 0, DType::u8), ElementType::boolean};
        const NamedValues inputs{{"x", reshape(tensor({0.5F, 0.25F, 0.125F, 1.0F}), {2, 2})},
                                 {"yes", condition}};
        const Model model = load(file_of(graph), in(Precision::f16, level, vulkan));
        const auto got = floats(model.run(inputs).get(), "y");
        const auto expected = floats(load(file_of(graph), here()).run(inputs).get(), "y");
        for (std::size_t i = 0; i < got.size(); ++i)
          EXPECT_NEAR(got[i], expected[i], 4e-3 * std::abs(expected[i]));
      }
  }
  /// At every level outputs of what a GPU runs, and the CPU, have their types and differ by `bound` at most.
  void expect_near(const Graph& graph, Precision precision, double bound) const {
    const NamedValues expected = load(file_of(graph), in(Precision::full, Optimize::none, device_))
                                     .run(inputs_of(graph))
                                     .get();
    const OperatorTable& operators = OperatorTable::standard();
    const auto evaluate = node_evaluation(operators, device_);
    for (const Optimize level : {Optimize::none, Optimize::basic, Optimize::all}) {
      const auto passes = chosen_passes(level, {});
      const auto before = optimized(file_of(graph), passes, operators, evaluate);
      const Narrowed made = with_precision(before, precision, operators, evaluate, gpu);
      EXPECT_GT(made.report.narrowed, 0U);
      expect_near(load(made.file, in(Precision::full, level, device_)).run(inputs_of(graph)).get(),
                  expected, bound);
      const DeviceScope there{vulkan};
      const Model model = load(file_of(graph), in(precision, level, vulkan));
      EXPECT_EQ(model.info().precision->narrowed, made.report.narrowed);
      expect_near(model.run(inputs_of(graph)).get(), expected, bound);
    }
  }

  Device vulkan = system_.device("vulkan");
  DeviceInfo gpu = [] {
    DeviceInfo info;
    info.type = DeviceType::discrete_gpu;
    info.dtypes = {DType::f32, DType::f16, DType::bf16};
    return info;
  }();

 private:
  static NamedValues inputs_of(const Graph& graph) {
    NamedValues inputs;
    for (const ValueInfo& input : graph.inputs)
      if (graph.initializer(input.name) == nullptr) inputs.emplace(input.name, some(input.type));
    return inputs;
  }
  static void expect_near(const NamedValues& got, const NamedValues& expected, double bound) {
    ASSERT_EQ(got.size(), expected.size());
    for (const auto& [name, value] : expected) {
      ASSERT_EQ(got.at(name).type(), value.type()) << name;
      ASSERT_EQ(got.at(name).shape(), value.shape()) << name;
      const auto a = got.at(name).tensor().to_vector<double>();
      const auto b = value.tensor().to_vector<double>();
      double most = 0;
      for (const double number : b) most = std::max(most, std::abs(number));
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], bound * most) << name << " at " << i;
    }
  }
};

}  // namespace stoker::onnx
