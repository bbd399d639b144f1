// Graphs put together at random from what passes look for: all passes together, and each alone, keep the numbers.
#include <random>

#include "stoker/api/onnx/optimize/narrowing.hpp"
#include "stoker/tests/onnx/passes/pass_test.hpp"
#include "stoker/tests/onnx/passes/random_graph.hpp"

namespace stoker::onnx {
namespace {

std::string text_of(unsigned seed) {
  std::mt19937 random{seed};
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  return RandomGraph{below}.text();
}

class RandomGraphs : public PassTest, public testing::WithParamInterface<unsigned> {};

TEST_P(RandomGraphs, give_the_same_numbers) {
  std::vector<std::string> all;
  for (const Pass& one : PassTable::standard().list()) all.push_back(one.name);
  std::size_t before = 0;
  std::size_t after = 0;
  for (unsigned i = 0; i < 10; ++i) {
    const std::string text = text_of(GetParam() * 10 + i);
    SCOPED_TRACE(text);
    const Graph graph = GraphText::parse(text, opset);
    expect_equal_numbers(graph, all);
    expect_equal_numbers(graph, {all[(GetParam() * 10 + i) % all.size()]});
    if (HasFatalFailure()) return;
    before += rewritten(graph, {}).nodes.size();
    after += rewritten(graph, all).nodes.size();
  }
  EXPECT_LT(after, before * 3 / 4);
}

/// Which roundings of 16 bits are large beside a result depends on what cancels: nearly all numbers are near.
TEST_P(RandomGraphs, give_near_numbers_in_16_bits) {
  const OperatorTable& operators = OperatorTable::standard();
  const auto evaluate = node_evaluation(operators, device_);
  DeviceInfo gpu;
  gpu.dtypes = {DType::f16};
  std::size_t numbers = 0;
  std::size_t near = 0;
  std::size_t narrowed = 0;
  for (unsigned i = 0; i < 10; ++i) {
    const std::string text = text_of(GetParam() * 10 + i);
    SCOPED_TRACE(text);
    const auto file = file_of(GraphText::parse(text, opset));
    const NamedValues inputs{{"x", some(file->graph.inputs[0].type)}};
    const NamedValues expected = load(file, here()).run(inputs).get();
    for (const Optimize level : {Optimize::none, Optimize::all}) {
      const auto passes = chosen_passes(level, {});
      const Narrowed made = with_precision(optimized(file, passes, operators, evaluate),
                                           Precision::f16, operators, evaluate, gpu);
      narrowed += made.report.narrowed;
      const NamedValues got = load(made.file, here()).run(inputs).get();
      for (const auto& [name, value] : expected) {
        ASSERT_EQ(got.at(name).type(), value.type()) << name;
        ASSERT_EQ(got.at(name).shape(), value.shape()) << name;
        const auto a = got.at(name).tensor().to_vector<double>();
        const auto b = value.tensor().to_vector<double>();
        for (std::size_t k = 0; k < a.size(); ++k) {
          ++numbers;
          near += std::abs(a[k] - b[k]) <= 0.02 + 0.02 * std::abs(b[k]) ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(narrowed, 10U);
  EXPECT_GT(near, numbers * 95 / 100) << near << " of " << numbers;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(0U, 8U));

}  // namespace
}  // namespace stoker::onnx
