// Allocations that fail while a function is traced, planned and started: each is an error of the call,
// which changes nothing. The tests fail every one, one after the other.
#include "stoker/tests/tensor/out_of_memory.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class TensorsOutOfMemory : public OutOfMemory {
 protected:
  /// Fused steps, products, sums and what the host drives.
  static Tensor function(const Tensor& x) {
    const Tensor y = matmul(x * 2 + 1, transpose(x));
    return sum(exp(y - reduce_max(y))) + cumulative_sum(x, 1)[{-1, -1}];
  }
};

TEST_F(TensorsOutOfMemory, a_plan_that_cannot_be_made_is_an_error_of_the_call) {
  std::size_t which = 0;
  // Of another shape each time, so that no plan is found that was made before.
  const auto planned = [&] {
    const std::int64_t columns = static_cast<std::int64_t>(which) + 1;
    const Tensor x = ones({2, columns});
    return jit(&function).compile(current_device(), x);
  };
  while (fails(which, [&] { static_cast<void>(planned()); })) ++which;
  EXPECT_GT(which, 100U);
}

TEST_F(TensorsOutOfMemory, expressions_of_any_length_go_without_memory_or_stack) {
  Tensor x = ones({2});
  Tensor early;
  for (int i = 0; i < 200'000; ++i) {
    x = i % 2 == 0 ? x + x : x * 0.5 + (x - x);
    if (i == 2) early = x;
  }
  EXPECT_FALSE(fails(0, [&] { x = Tensor{}; }));
  awaited(early.computed());
  EXPECT_FALSE(fails(0, [&] { early = Tensor{}; })) << "one that is known";
}

TEST_F(TensorsOutOfMemory, a_run_that_cannot_be_started_is_an_error_of_the_call) {
  const Tensor x = ones({2, 3}).eval();
  awaited(x.computed());
  const auto ready = jit(&function).compile(current_device(), x);
  const Tensor wanted = ready(x);
  awaited(wanted.computed());
  std::size_t which = 0;
  while (fails(which, [&] { static_cast<void>(ready(x)); })) {
    turns->run_all();
    const Tensor y = ready(x);
    awaited(y.computed());
    ++which;
  }
  EXPECT_GT(which, 5U);
}

}  // namespace
}  // namespace stoker
