// What the backend promises, on a real driver with validation and synchronisation validation on.
#include <algorithm>
#include <numeric>

#include "fixture.hpp"

namespace stoker::device::vulkan::testing {
namespace {

using VulkanBackendTest = VulkanTest;

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

std::vector<float> mapped_by(const std::vector<float>& values, float (*f)(float)) {
  std::vector<float> result;
  for (const float value : values) result.push_back(f(value));
  return result;
}

float affine(float x) { return 2 * x + 1; }

TEST_F(VulkanBackendTest, describes_the_device) {
  const DeviceInfo& info = device_->backend().info();
  EXPECT_EQ(info.name, "vulkan:0");
  EXPECT_EQ(info.backend, "vulkan");
  EXPECT_EQ(info.uuid.size(), 32U);
  EXPECT_GT(info.memory_bytes, 0U);
  EXPECT_LE(info.limits.max_allocation, info.memory_bytes);
  EXPECT_GE(info.limits.shared_bytes, 16384U);
  EXPECT_TRUE(std::ranges::find(info.dtypes, DType::f32) != info.dtypes.end());
  EXPECT_TRUE(std::ranges::find(info.features, "timelineSemaphore") != info.features.end());
}

TEST_F(VulkanBackendTest, allocates_every_kind_of_memory) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::upload, MemoryKind::readback}) {
    const auto block = device_->backend().allocate(1000, kind).value();
    EXPECT_EQ(block->bytes, 1000U);
    EXPECT_EQ(block->kind, kind);
    EXPECT_NE(block->address, 0U);
    EXPECT_EQ(block->address % 16, 0U);
    EXPECT_TRUE(kind == MemoryKind::device || block->host != nullptr);
  }
}

TEST_F(VulkanBackendTest, memory_of_no_bytes_is_memory) {
  EXPECT_TRUE(device_->backend().allocate(0, MemoryKind::device));
}

TEST_F(VulkanBackendTest, refuses_more_than_one_buffer_may_have) {
  const std::uint64_t limit = device_->backend().info().limits.max_allocation;
  const auto refused = device_->backend().allocate(limit + 1, MemoryKind::device);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(refused.error().detail("limit"), std::to_string(limit));
}

TEST_F(VulkanBackendTest, copies) {
  const auto values = counting(1000);
  const auto from = device_->filled<float>(values);
  const auto to = device_->backend().allocate(4000, MemoryKind::readback).value();
  device_->run(std::vector{copy_step(whole(from), whole(to))});
  EXPECT_EQ(values_of<float>(to), values);
}

TEST_F(VulkanBackendTest, copies_parts_at_any_byte) {
  const std::string text = "the quick brown fox";
  const auto from = device_->filled<char>(text);
  const auto to = device_->filled<char>(std::string(19, '.'));
  device_->run(std::vector{copy_step(part(from, 4, 5), part(to, 3, 5))});
  EXPECT_EQ(values_of<char>(to),
            (std::vector<char>{'.', '.', '.', 'q', 'u', 'i', 'c', 'k', '.', '.', '.', '.', '.', '.',
                               '.', '.', '.', '.', '.'}));
}

TEST_F(VulkanBackendTest, fills_ragged_ranges_of_bytes) {
  for (std::uint64_t offset = 0; offset < 5; ++offset)
    for (const std::uint64_t bytes : {1U, 2U, 3U, 4U, 7U, 13U}) {
      const auto to = device_->filled<std::uint8_t>(std::vector<std::uint8_t>(32, 9));
      device_->run(std::vector{fill_step<std::uint8_t>(part(to, offset, bytes), 5)});
      const auto result = values_of<std::uint8_t>(to);
      for (std::uint64_t i = 0; i < result.size(); ++i)
        ASSERT_EQ(result[i], i >= offset && i < offset + bytes ? 5 : 9)
            << offset << " " << bytes << " at " << i;
    }
}

TEST_F(VulkanBackendTest, fills_with_eight_byte_elements_of_any_count) {
  for (const std::size_t count : {1U, 511U, 512U, 513U, 5000U, 700'000U}) {
    const auto to = device_->backend().allocate(count * 8, MemoryKind::readback).value();
    device_->run(std::vector{fill_step(whole(to), 1.5)});
    const auto result = values_of<double>(to);
    ASSERT_EQ(std::ranges::count(result, 1.5), static_cast<std::ptrdiff_t>(count));
  }
}

TEST_F(VulkanBackendTest, dispatches_a_kernel) {
  const auto values = counting(1001);
  const auto x = device_->filled<float>(values);
  const auto y = device_->backend().allocate(4004, MemoryKind::readback).value();
  const auto executable = device_->prepare(affine_kernel(), 1001);
  device_->run(std::vector{dispatch_step(executable, whole(x), whole(y))});
  EXPECT_EQ(values_of<float>(y), mapped_by(values, affine));
}

TEST_F(VulkanBackendTest, a_later_pass_sees_what_an_earlier_one_wrote) {
  const auto values = counting(5000);
  const auto x = device_->filled<float>(values);
  const auto y = device_->backend().allocate(20000, MemoryKind::readback).value();
  const auto executable = device_->prepare(two_pass_kernel(), 5000);
  ASSERT_EQ(executable->scratch_bytes, std::vector<std::size_t>{20000});
  const auto scratch = device_->backend().allocate(20000, MemoryKind::device).value();
  Step step = dispatch_step(executable, whole(x), whole(y));
  step.scratch = {whole(scratch)};
  device_->run(std::vector{step});
  EXPECT_EQ(device_->backend().counters().barriers, 1U);
  EXPECT_EQ(values_of<float>(y), mapped_by(values, [](float v) { return (v + 1) * 3; }));
}

TEST_F(VulkanBackendTest, a_kernel_of_nothing_runs_nothing) {
  Kernel kernel = affine_kernel();
  kernel.gpu = [](auto&&...) -> Result<GpuPlan> {
    return Error{"affine", ErrorCode::internal, "called"};
  };
  const auto executable = device_->prepare(kernel, 0);
  const auto empty = device_->backend().allocate(0, MemoryKind::device).value();
  device_->run(std::vector{dispatch_step(executable, whole(empty), whole(empty))});
}

TEST_F(VulkanBackendTest, dependent_steps_see_each_other) {
  const auto values = counting(4096);
  const auto a = device_->filled<float>(values);
  const auto b = device_->backend().allocate(16384, MemoryKind::device).value();
  const auto c = device_->backend().allocate(16384, MemoryKind::device).value();
  const auto d = device_->backend().allocate(16384, MemoryKind::readback).value();
  const auto executable = device_->prepare(affine_kernel(), 4096);
  device_->run(std::vector{copy_step(whole(a), whole(b)),
                           dispatch_step(executable, whole(b), whole(c), {0}),
                           fill_step(whole(b), 0.0F, {1}), copy_step(whole(c), whole(d), {1})});
  EXPECT_EQ(values_of<float>(d), mapped_by(values, affine));
}

TEST_F(VulkanBackendTest, independent_steps_have_no_barrier_between_them) {
  const auto x = device_->filled<float>(counting(64));
  const auto executable = device_->prepare(affine_kernel(), 64);
  std::vector<std::unique_ptr<MemoryBlock>> outputs;
  std::vector<Step> steps;
  for (int i = 0; i < 8; ++i) {
    outputs.push_back(device_->backend().allocate(256, MemoryKind::readback).value());
    steps.push_back(dispatch_step(executable, whole(x), whole(outputs.back())));
  }
  device_->run(steps);
  EXPECT_EQ(device_->backend().counters().barriers, 0U);
}

TEST_F(VulkanBackendTest, a_submission_of_nothing_completes) {
  const std::uint64_t value = device_->run({});
  EXPECT_TRUE(device_->sink().await({QueueKind::compute, value}));
}

TEST_F(VulkanBackendTest, submissions_that_wait_see_what_they_waited_for) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = device_->filled<float>(std::vector<float>(1000, 1.0F));
  const auto b = device_->backend().allocate(4000, MemoryKind::readback).value();
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const std::vector<Step> steps{i % 2 == 0 ? dispatch_step(executable, whole(a), whole(b))
                                             : copy_step(whole(b), whole(a))};
    const QueuePoint before{QueueKind::compute, last};
    Submission submission;
    submission.steps = steps;
    if (last) submission.waits = {&before, 1};
    last = device_->submit(submission);
  }
  ASSERT_TRUE(device_->wait({QueueKind::compute, last}));
  EXPECT_EQ(values_of<float>(a), std::vector<float>(1000, 2047.0F));
}

TEST_F(VulkanBackendTest, an_older_point_can_be_waited_for) {
  const auto a = device_->filled<float>(std::vector<float>(10, 1.0F));
  const auto b = device_->backend().allocate(40, MemoryKind::readback).value();
  const auto c = device_->backend().allocate(40, MemoryKind::readback).value();
  Submission submission;
  const std::vector first{copy_step(whole(a), whole(b))};
  submission.steps = first;
  const QueuePoint older{QueueKind::compute, device_->submit(submission)};
  submission.steps = {};
  device_->submit(submission);
  const std::vector third{copy_step(whole(b), whole(c))};
  submission.steps = third;
  submission.waits = {&older, 1};
  ASSERT_TRUE(device_->wait({QueueKind::compute, device_->submit(submission)}));
  EXPECT_EQ(values_of<float>(c), values_of<float>(a));
}

TEST_F(VulkanBackendTest, completions_are_reported_in_order_before_wait_returns) {
  for (int i = 0; i < 50; ++i) device_->submit({});
  ASSERT_TRUE(device_->wait({QueueKind::compute, 50}));
  const auto order = device_->sink().order();
  ASSERT_EQ(order.size(), 50U);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i].value, i + 1);
}

TEST_F(VulkanBackendTest, completions_come_without_anybody_waiting) {
  device_->submit({});
  EXPECT_TRUE(device_->sink().await({QueueKind::compute, 1}));
}

TEST_F(VulkanBackendTest, a_wait_ends_at_its_deadline) {
  EXPECT_FALSE(device_->backend().wait({QueueKind::compute, 1}, std::chrono::steady_clock::now()));
}

TEST_F(VulkanBackendTest, a_recording_replays) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = device_->filled<float>(std::vector<float>(1000, 1.0F));
  const auto b = device_->backend().allocate(4000, MemoryKind::device).value();
  const auto recording = device_->backend()
                             .record(std::vector{dispatch_step(executable, whole(a), whole(b)),
                                                 copy_step(whole(b), whole(a), {0})})
                             .value();
  std::uint64_t last = 0;
  for (int i = 0; i < 10; ++i) {
    const QueuePoint before{QueueKind::compute, last};
    Submission submission;
    submission.recording = recording.get();
    if (last) submission.waits = {&before, 1};
    last = device_->submit(submission);
  }
  ASSERT_TRUE(device_->wait({QueueKind::compute, last}));
  EXPECT_EQ(values_of<float>(a), std::vector<float>(1000, 2047.0F));
  EXPECT_EQ(device_->backend().counters().recordings, 1U);
}

TEST_F(VulkanBackendTest, a_recording_may_be_in_flight_more_than_once) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = device_->filled<float>(std::vector<float>(1000, 1.0F));
  const auto b = device_->backend().allocate(4000, MemoryKind::readback).value();
  device_->run(std::vector{dispatch_step(executable, whole(a), whole(b))});
  const auto recording =
      device_->backend().record(std::vector{dispatch_step(executable, whole(a), whole(b))}).value();
  Submission submission;
  submission.recording = recording.get();
  for (int i = 0; i < 10; ++i) device_->submit(submission);
  ASSERT_TRUE(device_->wait({QueueKind::compute, 11}));
  EXPECT_EQ(values_of<float>(b), std::vector<float>(1000, 3.0F));
}

TEST_F(VulkanBackendTest, times_each_step_on_the_hosts_clock) {
  const auto executable = device_->prepare(slow_kernel(1000), 10'000);
  const auto x = device_->filled<float>(std::vector<float>(10'000, 0.0F));
  const auto y = device_->backend().allocate(40'000, MemoryKind::readback).value();
  const auto now = [] {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds{1});
  };
  const std::uint64_t before = now();
  const std::uint64_t value =
      device_->run(std::vector{dispatch_step(executable, whole(x), whole(y)),
                               copy_step(whole(y), whole(x), {0})},
                   true);
  const std::uint64_t after = now();
  const auto timings = device_->sink().timings({QueueKind::compute, value});
  ASSERT_EQ(timings.size(), 2U);
  // Two clocks agree to within their calibration; a millisecond tells them from nonsense.
  constexpr std::uint64_t slack = 1'000'000;
  EXPECT_GT(timings[0].begin_ns + slack, before);
  EXPECT_GE(timings[0].end_ns, timings[0].begin_ns);
  EXPECT_GE(timings[1].end_ns, timings[0].end_ns);
  EXPECT_LT(timings[1].end_ns, after + slack);
}

TEST_F(VulkanBackendTest, untimed_submissions_report_no_timings) {
  const auto x = device_->filled<float>(counting(10));
  const std::uint64_t value = device_->run(std::vector{fill_step(whole(x), 0.0F)});
  EXPECT_TRUE(device_->sink().timings({QueueKind::compute, value}).empty());
}

TEST_F(VulkanBackendTest, the_same_shader_makes_one_pipeline) {
  const Kernel kernel = affine_kernel();
  std::vector<std::shared_ptr<const Executable>> executables;
  for (const std::int64_t elements : {1, 10, 1000})
    executables.push_back(device_->prepare(kernel, elements));
  EXPECT_EQ(device_->backend().counters().pipelines_created, 1U);
}

TEST_F(VulkanBackendTest, pipelines_of_user_kernels_go_with_their_last_use) {
  const Kernel kernel = affine_kernel();
  auto used = device_->prepare(kernel, 10);
  EXPECT_EQ(device_->backend().counters().pipelines, 1U);
  used.reset();
  EXPECT_EQ(device_->backend().counters().pipelines, 0U);
  device_->prepare(kernel, 10);
  EXPECT_EQ(device_->backend().counters().pipelines_created, 2U);
}

TEST_F(VulkanBackendTest, shaders_are_told_apart_by_what_they_are_not_by_their_names) {
  // Two of a user's and a built-in one, all with the name and the variant of the latter.
  const std::vector<std::uint32_t> values{1, 2, 3, 4, 5};
  const auto x = device_->filled<std::uint32_t>(values);
  const auto y = device_->backend().allocate(20, MemoryKind::readback).value();
  const auto result = [&](const std::shared_ptr<const Executable>& executable) {
    device_->run(std::vector{dispatch_step(executable, whole(x), whole(y))});
    return values_of<std::uint32_t>(y);
  };
  const auto prepared = [&](const Kernel& kernel) {
    return device_->prepare(kernel, 5, DType::u32);
  };
  const auto doubling = prepared(affine_kernel(DType::u32, "copy"));
  const auto copying = prepared(*KernelRegistry::builtin().find("copy").value());
  const auto adding = prepared(slow_kernel(3, "copy", DType::u32));
  EXPECT_EQ(result(adding), (std::vector<std::uint32_t>{4, 5, 6, 7, 8}));
  EXPECT_EQ(result(copying), values);
  EXPECT_EQ(result(doubling), (std::vector<std::uint32_t>{3, 5, 7, 9, 11}));
}

TEST_F(VulkanBackendTest, a_shader_that_was_not_compiled_is_not_taken_for_a_built_in_one) {
  Kernel kernel = affine_kernel(DType::u32, "copy");
  Shader shader = *kernel.shaders[0];
  shader.variants[0].spirv.clear();
  const auto bare = std::make_shared<const Shader>(std::move(shader));
  kernel.shaders = {bare};
  kernel.gpu = [bare, plan = kernel.gpu](const KernelCall& call,
                                         std::span<const TensorSpec> outputs,
                                         const GpuTraits& traits) -> Result<GpuPlan> {
    STOKER_ASSIGN(GpuPlan made, plan(call, outputs, traits));
    made.passes[0].shader = bare.get();
    return made;
  };
  const TensorSpec spec{DType::u32, Shape{4}};
  const ParamSet params;
  const auto refused = device_->backend().prepare(std::make_shared<const Kernel>(kernel),
                                                  {{&spec, 1}, params}, {&spec, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::not_found);
}

TEST_F(VulkanBackendTest, a_kernel_without_a_gpu_version_is_unsupported) {
  Kernel kernel;
  kernel.name = "host_only";
  const TensorSpec spec{DType::f32, Shape{4}};
  const ParamSet params;
  const auto refused = device_->backend().prepare(std::make_shared<const Kernel>(kernel),
                                                  {{&spec, 1}, params}, {&spec, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
}

TEST_F(VulkanBackendTest, a_plan_beyond_a_limit_is_refused_by_name) {
  Kernel kernel = affine_kernel();
  kernel.gpu = [plan = kernel.gpu](const KernelCall& call, std::span<const TensorSpec> outputs,
                                   const GpuTraits& traits) -> Result<GpuPlan> {
    STOKER_ASSIGN(GpuPlan made, plan(call, outputs, traits));
    made.passes[0].groups[1] = 0x7fffffff;
    return made;
  };
  const TensorSpec spec{DType::f32, Shape{4}};
  const ParamSet params;
  const auto refused = device_->backend().prepare(std::make_shared<const Kernel>(kernel),
                                                  {{&spec, 1}, params}, {&spec, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(refused.error().detail("which_limit"), "maxComputeWorkGroupCount");
}

TEST_F(VulkanBackendTest, a_planner_that_throws_fails_its_call_only) {
  Kernel kernel = affine_kernel();
  kernel.gpu = [](auto&&...) -> Result<GpuPlan> { throw std::runtime_error{"oops"}; };
  const TensorSpec spec{DType::f32, Shape{4}};
  const ParamSet params;
  const auto refused = device_->backend().prepare(std::make_shared<const Kernel>(kernel),
                                                  {{&spec, 1}, params}, {&spec, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::handler_failed);
}

TEST_F(VulkanBackendTest, memory_and_kernels_may_outlive_the_backend) {
  const auto block = device_->backend().allocate(100, MemoryKind::device).value();
  const auto executable = device_->prepare(affine_kernel(), 10);
  EXPECT_EQ(device_->backend().counters().validation_messages, 0U);
  device_->close();
  device_.reset();
}

TEST_F(VulkanBackendTest, closing_finishes_what_is_in_flight) {
  const auto executable = device_->prepare(slow_kernel(2000), 10'000);
  const auto x = device_->filled<float>(std::vector<float>(10'000, 0.0F));
  const auto y = device_->backend().allocate(40'000, MemoryKind::readback).value();
  const std::vector steps{dispatch_step(executable, whole(x), whole(y))};
  Submission submission;
  submission.steps = steps;
  for (int i = 0; i < 5; ++i) device_->submit(submission);
  device_->close();
  EXPECT_EQ(device_->sink().order().size(), 5U);
  EXPECT_EQ(values_of<float>(y), std::vector<float>(10'000, 2000.0F));
  device_.reset();
}

/// Cuts work into tiny submissions.
class SegmentTest : public VulkanTest {
 protected:
  [[nodiscard]] OpenOptions options() const override {
    OpenOptions options = VulkanTest::options();
    options.submit_target = std::chrono::nanoseconds{1};
    return options;
  }
};

TEST_F(SegmentTest, long_work_is_cut_into_submissions_and_stays_right) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = device_->filled<float>(std::vector<float>(1000, 1.0F));
  const auto b = device_->backend().allocate(4000, MemoryKind::device).value();
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 20; ++i)
    steps.push_back(i == 0       ? dispatch_step(executable, whole(a), whole(b))
                    : i % 2 == 0 ? dispatch_step(executable, whole(a), whole(b), {i - 1})
                                 : copy_step(whole(b), whole(a), {i - 1}));
  device_->run(steps);
  EXPECT_EQ(device_->backend().counters().submissions, 20U);
  EXPECT_EQ(values_of<float>(a), std::vector<float>(1000, 2047.0F));
}

TEST_F(SegmentTest, recordings_of_more_segments_than_the_timeline_marks_stay_right) {
  const auto executable = device_->prepare(affine_kernel(), 16);
  const auto a = device_->filled<float>(std::vector<float>(16, 0.0F));
  const auto b = device_->backend().allocate(64, MemoryKind::readback).value();
  device_->run(std::vector{dispatch_step(executable, whole(a), whole(b))});
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 300; ++i) {
    steps.push_back(fill_step(whole(a), static_cast<float>(i)));
    if (i > 0) steps.back().after = {2 * i - 1};
    steps.push_back(dispatch_step(executable, whole(a), whole(b), {2 * i}));
  }
  const auto recording = device_->backend().record(steps).value();
  std::atomic<std::uint32_t> progress{0};
  Submission submission;
  submission.recording = recording.get();
  submission.progress = &progress;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(device_->wait({QueueKind::compute, device_->submit(submission)}));
    EXPECT_EQ(progress.load(), 600U);
  }
  EXPECT_EQ(values_of<float>(b), std::vector<float>(16, 599.0F));
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
