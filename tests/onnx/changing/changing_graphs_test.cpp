// Graphs whose shapes depend on values, put together at random, give what a plain interpreter gives: at every level of
// passes, for several signatures in turns, and again with the plans that are there.
//
// STOKER_ONNX_GRAPHS says how many graphs, STOKER_ONNX_SEED the only or, with the other, the first one.
#include <cmath>
#include <cstdlib>
#include <future>
#include <stdexcept>

#include "stoker/tests/onnx/changing/changing_graph.hpp"
#include "stoker/tests/onnx/changing/plain_interpreter.hpp"

namespace stoker::onnx {
namespace {

std::optional<unsigned> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return {};
  return static_cast<unsigned>(std::stoul(text));  // throws for what is no number
}

/// Inputs of a graph, and what they come to.
struct Case {
  std::string name;
  PlainArrays inputs;
  PlainArrays outputs;
};

Value value_of(const PlainArray& array) {
  const Shape shape = shape_of(array.shape);
  if (array.type == ElementType::s64)
    return {Known::integers(array.data, shape).tensor(), array.type};
  return {Known::reals(std::vector<double>{array.data.begin(), array.data.end()}, shape).tensor(),
          array.type};
}

PlainArray array_of(const Value& value) {
  PlainArray made{value.type(), {value.shape().begin(), value.shape().end()}, {}};
  for (const double number : value.tensor().to_vector<double>()) {
    if (std::abs(number) > 1e15 || std::trunc(number) != number)
      throw std::domain_error{std::to_string(number) + " is no small integer"};
    made.data.push_back(static_cast<std::int64_t>(number));
  }
  return made;
}

class ChangingGraphs : public testing::Test {
 protected:
  /// Two of the same extents, and one of others.
  [[nodiscard]] std::vector<Case> cases_of(const ChangingGraph& made, unsigned seed) {
    std::mt19937 random{seed};
    const auto up_to = [&](std::int64_t least, std::int64_t most) {
      return least +
             static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
    };
    const auto numbers = [&](ElementType type, const PlainExtents& shape) {
      return made_of(type, shape, [&](const PlainExtents&) {
        return up_to(-ChangingGraph::most_number, ChangingGraph::most_number);
      });
    };
    std::vector<Case> cases{
        {"some numbers", {}, {}}, {"other numbers", {}, {}}, {"other extents", {}, {}}};
    std::int64_t n = 0, m = 0;
    for (Case& one : cases) {
      if (&one != &cases[1]) {
        n = up_to(made.least_extent(), ChangingGraph::most_extent);
        m = up_to(made.least_extent(), ChangingGraph::most_extent);
      }
      one.inputs = {numbers(ElementType::s64, {n}), numbers(ElementType::s64, {n, m}),
                    numbers(ElementType::f32, {m}), numbers(ElementType::s64, {})};
      one.outputs = plain_.run(made.builder().graph, one.inputs);
    }
    return cases;
  }

  static Future<NamedValues> started(const Model& model, const Case& one,
                                     const RunOptions& options = {}) {
    NamedValues inputs;
    for (std::size_t i = 0; i < one.inputs.size(); ++i)
      inputs.emplace(model.inputs()[i].name, value_of(one.inputs[i]));
    return model.run(inputs, options);
  }
  static void expect(const Model& model, const Case& one, const NamedValues& outputs,
                     const RunOptions& options = {}) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(outputs.size(),
              options.outputs.empty() ? one.outputs.size() : options.outputs.size());
    for (std::size_t i = 0; i < one.outputs.size(); ++i) {
      const std::string& name = model.outputs()[i].name;
      if (!outputs.contains(name)) continue;  // it was not wanted
      EXPECT_EQ(array_of(outputs.at(name)).to_string(), one.outputs[i].to_string()) << name;
    }
  }

  /// All of them in turns, twice, and then at the same time.
  void check_plans(const Model& model, const std::vector<Case>& cases) {
    std::uint64_t traced = 0;
    for (int i = 0; i < 2; ++i) {
      for (const Case& one : cases) expect(model, one, started(model, one).get());
      if (i == 0) traced = model.stats().traced;
    }
    EXPECT_EQ(model.stats().traced, traced) << "what ran before is traced again";
    std::vector<std::future<NamedValues>> runs;  // small kernels would be done one after the other
    for (const Case& one : cases)
      runs.push_back(std::async(std::launch::async, [&] {
        const DeviceScope scope{model.device()};
        return started(model, one).get();
      }));
    for (std::size_t i = 0; i < cases.size(); ++i) expect(model, cases[i], runs[i].get());
    cuts_ += model.stats().cuts;
  }
  /// Plans make room for others all the time, within runs, too.
  static void check_few_plans(const Model& model, const std::vector<Case>& cases) {
    const RunOptions last{.outputs = {model.outputs().back().name}};
    for (const Case& one : cases) {
      expect(model, one, started(model, one).get());
      expect(model, one, started(model, one, last).get(), last);
      EXPECT_LE(model.stats().segments, 2U);
    }
  }

  void check(unsigned seed, const Device& device, std::span<const Optimize> levels) {
    SCOPED_TRACE("STOKER_ONNX_SEED=" + std::to_string(seed));
    const ChangingGraph made{seed};
    SCOPED_TRACE(ChangingGraph::print(made.builder().graph));
    const DeviceScope scope{device};
    const std::uint64_t cuts_before = cuts_;
    try {
      const std::vector<Case> cases = cases_of(made, seed);
      for (const Optimize level : levels) {
        SCOPED_TRACE("Optimize " + std::to_string(static_cast<int>(level)));
        check_plans(made.builder().load({.device = device, .max_plans = 4096, .optimize = level}),
                    cases);
        if (HasFailure()) return;
      }
      if (cuts_ > cuts_before) ++cut_graphs_;
      SCOPED_TRACE("with two plans");
      check_few_plans(made.builder().load({.device = device, .max_plans = 2}), cases);
    } catch (const std::exception& refused) {
      ADD_FAILURE() << refused.what();
    }
  }

  System system_;
  PlainInterpreter plain_;
  std::uint64_t cuts_ = 0;
  unsigned cut_graphs_ = 0;
};

TEST_F(ChangingGraphs, give_what_a_plain_interpreter_gives) {
  const auto seed = number_in("STOKER_ONNX_SEED");
  const unsigned count = number_in("STOKER_ONNX_GRAPHS").value_or(seed ? 1 : 300);
  const Device cpu = system_.device("cpu");
  constexpr Optimize levels[] = {Optimize::none, Optimize::basic, Optimize::all};
  for (unsigned i = 0; i < count && !HasFailure(); ++i) check(seed.value_or(0) + i, cpu, levels);
  EXPECT_GT(count, 0U);
  EXPECT_TRUE(count < 100 || 3 * cut_graphs_ > count) << "few of them are cut: " << cut_graphs_;
}

TEST_F(ChangingGraphs, give_it_on_vulkan) {
  const Device vulkan = system_.device("vulkan");
  constexpr Optimize levels[] = {Optimize::all};
  for (unsigned seed = 0; seed < 10 && !HasFailure(); ++seed) check(seed, vulkan, levels);
}

}  // namespace
}  // namespace stoker::onnx
