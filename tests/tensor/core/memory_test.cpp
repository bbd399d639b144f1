// Memory of tensors: bounded, given back early, told.
#include <algorithm>

#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

SystemOptions with_budget(std::uint64_t bytes) {
  SystemOptions options;
  options.device.memory.budget = bytes;
  return options;
}

TEST(TensorMemory, what_exceeds_the_budget_is_refused_and_nothing_else_suffers) {
  const System system{with_budget(8 * mebibyte)};
  const DeviceScope scope{system.device("cpu")};
  const Tensor small = ones({1000});
  const Tensor large = ones({4 << 20}) + 1;  // 16 MiB
  const Error error = error_of([&] { return large.eval(); });
  EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
  EXPECT_FALSE(error.retryable()) << "it never fits";
  expect_near(sum(small), {1000});
}

TEST(TensorMemory, what_no_memory_holds_is_refused_at_the_call_or_when_it_is_asked_for) {
  const System system;
  const DeviceScope scope{system.device("cpu")};
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(error_of([&] { return zeros({huge, huge}); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] {
              return zeros({huge, 1}) + zeros({huge});
            }).code(),
            ErrorCode::shape_mismatch);
  EXPECT_NE(error_of([&] { return zeros({huge << 10}, DType::f64).eval(); }).code(),
            ErrorCode::internal);
  expect_near(ones({2}) + 1, {2, 2});
}

TEST(TensorMemory, intermediate_values_are_given_back_as_soon_as_nobody_needs_them) {
  const System system{with_budget(16 * mebibyte)};
  const DeviceScope scope{system.device("cpu")};
  const Tensor rows = (ones({512, 512}) / 512).eval();  // 1 MiB
  Tensor x = rows;
  for (int i = 0; i < 100; ++i) x = matmul(x, rows);
  expect_near(sum(x), {512}, 1e-3);
  EXPECT_LE(current_device().stats().memory.peak, 8 * mebibyte);
}

TEST(TensorMemory, a_loop_that_evaluates_each_step_does_not_drag_its_history_along) {
  const System system;
  const DeviceScope scope{system.device("cpu")};
  Tensor x = zeros({1 << 16});  // 256 KiB
  for (int i = 0; i < 200; ++i) {
    x = (x + 1).eval();
    if (i % 8 == 7) x.computed().get();  // what is queued holds its results
  }
  expect_near(sum(x), {200.0 * (1 << 16)});
  EXPECT_LE(current_device().stats().memory.peak, 4 * mebibyte);
}

class TensorsAhead : public TensorsOnDevices {};

TEST_P(TensorsAhead, need_no_more_memory_than_what_is_alive_and_in_flight) {
  constexpr std::int64_t n = 1 << 19;  // 2 MiB
  Tensor x = zeros({n});
  for (int i = 0; i < 100; ++i) x = (sin(x) + 1).eval();  // nobody waits
  EXPECT_EQ(sum(x * 0 + 1).item<float>(), n);
  EXPECT_LE(current_device().stats().memory.peak, 12 * mebibyte);
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorsAhead, every_device(), device_name);

TEST(TensorMemory, memory_that_the_host_looks_into_is_left_alone) {
  const System system;
  const DeviceScope scope{system.device("cpu")};
  constexpr std::int64_t n = 1 << 19;
  HostView view;
  {
    const Tensor seen = (ones({n}) * 3).eval();
    view = seen.buffer().host_view();
  }
  for (int i = 0; i < 4; ++i) (iota({n}, DType::f32) + i).computed().get();
  const std::span<const float> values{reinterpret_cast<const float*>(view.bytes.data()),
                                      static_cast<std::size_t>(n)};
  EXPECT_TRUE(std::ranges::all_of(values, [](float value) { return value == 3; }));
}

TEST(TensorMemory, all_of_it_comes_back_when_the_tensors_go) {
  const System system;
  const DeviceScope scope{system.device("cpu")};
  {
    const Tensor x = sin(iota({1 << 18}, DType::f32)).eval();
    expect_near(sum(x * 0), {0});
    EXPECT_GT(current_device().stats().memory.in_use, 0U);
  }
  current_device().trim();
  EXPECT_EQ(current_device().stats().memory.in_use, 0U);
  EXPECT_EQ(current_device().stats().memory.cached, 0U);
}

class ProgramsMemory : public TensorsOnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, ProgramsMemory, every_device(), device_name);

TEST_P(ProgramsMemory, what_a_program_needed_goes_when_the_program_is_forgotten) {
  // A literal that changes makes another program, and another kernel, each time.
  constexpr std::size_t most = expr::ProgramCache::most;
  Tensor x = ones({8}).eval();
  const auto executables_after = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) x = (x * 0.5 + (0.125 + static_cast<double>(i))).eval();
    x.computed().get();  // what is in flight keeps its kernels
    return current_device().stats().executables;
  };
  const std::size_t full = executables_after(0, most);
  EXPECT_GE(full, most);
  // A new kernel looks at a few old ones: the cache is gone through once in an eighth of its size.
  EXPECT_LE(executables_after(most, most + 600), full + full / 8 + 8);
}

TEST(ProgramCache, keeps_fewer_programs_where_they_have_many_kernels) {
  const auto program_of = [](std::size_t kernels) {
    const auto made = std::make_shared<expr::LoweredProgram>();
    made->steps.emplace_back().origins.resize(kernels);
    return made;
  };
  constexpr std::size_t most = expr::ProgramCache::most_kernels;
  expr::ProgramCache cache;
  cache.add("small", program_of(1));
  cache.add("large", program_of(most - 1));
  EXPECT_EQ(cache.counters().kernels, most);
  EXPECT_NE(cache.find("small"), nullptr);
  cache.add("one more", program_of(1));
  EXPECT_EQ(cache.find("large"), nullptr);
  EXPECT_NE(cache.find("small"), nullptr);
  cache.add("larger than all", program_of(2 * most));
  EXPECT_NE(cache.find("larger than all"), nullptr);
  EXPECT_EQ(cache.counters().programs, 1U);
}

}  // namespace
}  // namespace stoker
