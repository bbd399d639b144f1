// A CPU device may end while a kernel runs, and from inside its own reports. A kernel that outlasts its
// device goes on with everything it was given, and its end is nobody's concern.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <semaphore>

#include "stoker/device/cpu/cpu_backend.hpp"
#include "stoker/tests/device/owner.hpp"

namespace stoker::device::cpu {
namespace {

constexpr auto for_ever = std::chrono::minutes{1};
constexpr auto at_once = std::chrono::nanoseconds{0};
constexpr std::uint64_t bytes = 1 << 20;

/// Releases a semaphore when its last owner is gone.
class Farewell {
 public:
  explicit Farewell(std::shared_ptr<std::binary_semaphore> gone) noexcept
      : gone_{std::move(gone)} {}
  ~Farewell() { gone_->release(); }
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;

 private:
  const std::shared_ptr<std::binary_semaphore> gone_;
};

/// A kernel that the test holds in its hands: it waits to be told, then fills its output.
class HeldKernel {
 public:
  HeldKernel() {
    auto executable = std::make_shared<CpuExecutable>();
    const auto run = [state = state_, farewell = std::make_shared<Farewell>(gone_)](
                         const CpuArgs& args, std::uint32_t) {
      state->begun.release();
      state->may_end.acquire();
      std::memset(args.out<std::byte>(), 7, bytes);
      state->last_byte = static_cast<int>(args.out<std::byte>()[bytes - 1]);
    };
    executable->plan.stages.push_back({1, run});
    executable_ = std::move(executable);
  }
  [[nodiscard]] Step step(const std::unique_ptr<MemoryBlock>& output) const {
    Step step;
    step.executable = executable_;
    step.outputs = {{output.get(), 0, bytes}};
    return step;
  }
  void await_begin() { EXPECT_TRUE(state_->begun.try_acquire_for(for_ever)); }
  void let_end() { state_->may_end.release(); }
  /// Lets go of the kernel, and waits until everybody else has.
  void await_farewell() {
    executable_.reset();
    EXPECT_TRUE(gone_->try_acquire_for(for_ever));
  }
  [[nodiscard]] int last_byte() const { return state_->last_byte; }

 private:
  struct State {
    std::counting_semaphore<> begun{0};
    std::counting_semaphore<> may_end{0};
    std::atomic<int> last_byte{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::shared_ptr<std::binary_semaphore> gone_ = std::make_shared<std::binary_semaphore>(0);
  std::shared_ptr<const Executable> executable_;
};

/// Submits a held kernel as point `value`, behind the point before.
void run_on(Backend& device, std::uint64_t value, const HeldKernel& kernel,
            const std::unique_ptr<MemoryBlock>& output) {
  const Step step = kernel.step(output);
  const QueuePoint before{QueueKind::compute, value - 1};
  EXPECT_TRUE(device.submit({QueueKind::compute, value, {&before, 1}, {&step, 1}}));
}

class CountingSink final : public CompletionSink {
 public:
  void on_completed(Completion) noexcept override { ++completions; }
  void on_lost(Error) noexcept override {}
  std::atomic<int> completions{0};
};

class OutlastingKernel : public testing::Test {
 protected:
  void SetUp() override {
    pool = std::make_shared<ComputePool>(2);
    device = std::make_unique<CpuBackend>(sink, pool, CpuBackend::Options{.patience = at_once});
    memory = device->allocate(bytes, MemoryKind::device).value();
  }
  std::unique_ptr<Recording> record(const HeldKernel& work) {
    const Step step = work.step(memory);
    return device->record({&step, 1}).value();
  }
  void submit(const HeldKernel& work) { run_on(*device, 1, work, memory); }

  CountingSink sink;
  std::shared_ptr<ComputePool> pool;
  std::unique_ptr<CpuBackend> device;
  std::unique_ptr<MemoryBlock> memory;
  HeldKernel kernel;
};

TEST_F(OutlastingKernel, tells_nobody_of_its_end) {
  submit(kernel);
  kernel.await_begin();
  device.reset();
  kernel.let_end();
  kernel.await_farewell();
  EXPECT_EQ(sink.completions, 0);
}

TEST_F(OutlastingKernel, finds_its_memory_where_it_was_although_that_was_freed) {
  submit(kernel);
  kernel.await_begin();
  device.reset();
  memory.reset();
  kernel.let_end();
  kernel.await_farewell();
  EXPECT_EQ(kernel.last_byte(), 7);
}

TEST_F(OutlastingKernel, finds_its_recording_and_forgets_who_watched_its_progress) {
  auto recording = record(kernel);
  auto progress = std::make_unique<std::atomic<std::uint32_t>>(0);
  Submission submission;
  submission.value = 1;
  submission.recording = recording.get();
  submission.progress = progress.get();
  EXPECT_TRUE(device->submit(submission));
  kernel.await_begin();
  device.reset();
  recording.reset();
  kernel.let_end();
  kernel.await_farewell();
  EXPECT_EQ(*progress, 0U);
}

TEST_F(OutlastingKernel, is_followed_by_nothing_that_waited_for_it) {
  submit(kernel);
  HeldKernel next;
  run_on(*device, 2, next, memory);
  kernel.await_begin();
  device.reset();
  next.let_end();
  kernel.let_end();
  kernel.await_farewell();
  next.await_farewell();
  EXPECT_EQ(next.last_byte(), 0);
}

TEST_F(OutlastingKernel, leaves_a_new_device_on_the_same_pool_alone) {
  submit(kernel);
  kernel.await_begin();
  device.reset();
  HeldKernel other;
  CpuBackend second{sink, pool};
  const auto output = second.allocate(bytes, MemoryKind::device).value();
  run_on(second, 1, other, output);
  other.let_end();
  EXPECT_TRUE(second.wait({QueueKind::compute, 1}, std::chrono::steady_clock::now() + for_ever));
  EXPECT_EQ(sink.completions, 1);
  kernel.let_end();
  kernel.await_farewell();
  EXPECT_EQ(sink.completions, 1);
}

class LastOwner : public testing::Test, public LettingGo {
 protected:
  void SetUp() override {
    owner->backend = std::make_shared<CpuBackend>(*owner, std::make_shared<ComputePool>(2));
    memory = owner->backend->allocate(bytes, MemoryKind::device).value();
    run_on(*owner->backend, 1, kernel, memory);
  }

  std::unique_ptr<MemoryBlock> memory;
  HeldKernel kernel;
};

TEST_F(LastOwner, may_let_go_inside_a_report) {
  kernel.let_end();
  let_go();
  EXPECT_EQ(kernel.last_byte(), 7);
}

TEST_F(LastOwner, waits_inside_the_report_for_what_runs_behind_it) {
  HeldKernel behind;
  run_on(*owner->backend, 2, behind, memory);
  kernel.let_end();
  behind.let_end();
  let_go();
  EXPECT_EQ(behind.last_byte(), 7);
}

}  // namespace
}  // namespace stoker::device::cpu
