// What waits for something that it does not need: the same elements and gradients.
#include "stoker/api/tensor/transforms/computed_after.hpp"

#include <algorithm>
#include <set>

#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class ComputedAfter : public TensorsOnDevices {};

TEST_P(ComputedAfter, changes_no_element) {
  const Tensor x = exp(tensor({0.5, 1.0}));
  const Tensor other = sin(tensor({3.0}));
  EXPECT_EQ((computed_after(x, std::array{other}) * 2).to_vector<float>(),
            (x * 2).to_vector<float>());
  EXPECT_EQ(computed_after(x, {}).to_vector<float>(), x.to_vector<float>());
}

TEST_P(ComputedAfter, hands_gradients_to_what_it_is_alone) {
  const auto f = [](const std::pair<Tensor, Tensor>& in) {
    return sum(computed_after(in.first * in.first, std::array{exp(in.second)}));
  };
  const auto [x, other] = grad(f)(std::pair{tensor({1.0, 3.0}), tensor({2.0})});
  expect_near(x, {2, 6});
  expect_near(other, {0});
}

TEST_P(ComputedAfter, waits_in_chains) {
  // Each waits for the one before, which nobody else reads.
  const auto f = jit([](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 4; ++i) {
      const Tensor next = tanh(y + i);
      y = computed_after(x, std::array{computed_after(next, std::array{y})}) + next;
    }
    return y;
  });
  const Tensor x = tensor({0.1, 0.2});
  Tensor expected = x;
  for (int i = 0; i < 4; ++i) expected = x + tanh(expected + i);
  expect_near(f(x), expected.to_vector<double>());
}

TEST_P(ComputedAfter, waits_for_what_is_read_in_another_order) {
  // The sum of the products is turned round and has another shape, which nobody stores.
  const Tensor x = ones({4, 6}).eval();
  const Tensor awaited = reshape(transpose(matmul(x, transpose(x))), {2, 8});
  const Tensor later = sort(computed_after(x, std::array{awaited}));
  const auto program = expr::plan_of(std::array{later.value(), awaited.value()},
                                     [] { return current_device().client(); });
  const CompiledPipeline& pipeline = *program->steps.at(0).pipeline;
  std::set<std::uint32_t> before;  // of the sort: it comes after those it waits for
  for (std::size_t position = pipeline.stages().size(); position-- > 0;) {
    const PlannedStage& planned = pipeline.stages()[position];
    const bool sorts = pipeline.graph().stages()[planned.stage].kernel->name == "sort";
    if (sorts || before.contains(static_cast<std::uint32_t>(position)))
      before.insert(planned.after.begin(), planned.after.end());
  }
  const auto waits_for = [&](const char* kernel) {
    return std::ranges::any_of(before, [&](std::uint32_t position) {
      return pipeline.graph().stages()[pipeline.stages()[position].stage].kernel->name == kernel;
    });
  };
  EXPECT_TRUE(waits_for("matmul")) << program->to_text();
}

INSTANTIATE_TEST_SUITE_P(Devices, ComputedAfter, every_device(), device_name);

}  // namespace
}  // namespace stoker
