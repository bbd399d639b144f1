// A step that fails on a CPU device takes with it the steps that read what it should have written, and
// no other of its submission.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <semaphore>
#include <stdexcept>

#include "stoker/device/cpu/cpu_backend.hpp"

namespace stoker::device::cpu {
namespace {

constexpr std::uint64_t bytes = 64;

class LastCompletion final : public CompletionSink {
 public:
  void on_completed(Completion completion) noexcept override {
    last_ = std::move(completion);
    told_.release();
  }
  void on_lost(Error) noexcept override {}
  Completion await() {
    told_.acquire();
    return std::move(last_);
  }

 private:
  Completion last_;
  std::binary_semaphore told_{0};
};

std::shared_ptr<const Executable> executable_of(CpuStage stage) {
  auto executable = std::make_shared<CpuExecutable>();
  executable->plan.stages.push_back(std::move(stage));
  return executable;
}

class FailingSteps : public testing::Test {
 protected:
  FailingSteps() {
    for (auto& block : blocks_) block = device_.allocate(bytes, MemoryKind::device).value();
  }
  [[nodiscard]] MemoryView view(std::size_t block) const {
    return {blocks_[block].get(), 0, bytes};
  }
  /// Throws; reads `from` and should write `to`.
  [[nodiscard]] Step failing(std::size_t from, std::size_t to) const {
    Step step;
    step.executable = executable_of(
        {1, [](const CpuArgs&, std::uint32_t) { throw std::runtime_error{"broken"}; }});
    step.inputs = {view(from)};
    step.outputs = {view(to)};
    return step;
  }
  [[nodiscard]] Step copy(std::size_t from, std::size_t to, std::uint32_t after) const {
    Step step;
    step.kind = StepKind::copy;
    step.inputs = {view(from)};
    step.outputs = {view(to)};
    step.after = {after};
    return step;
  }
  std::vector<std::uint32_t> failed_of(std::span<const Step> steps) {
    EXPECT_TRUE(device_.submit({.value = 1, .steps = steps}));
    std::vector<std::uint32_t> failed;
    for (const StepFailure& failure : sink_.await().failures) failed.push_back(failure.step);
    return failed;
  }
  void set(std::size_t block, int value) { std::memset(blocks_[block]->host, value, bytes); }
  [[nodiscard]] int first(std::size_t block) const {
    return static_cast<int>(blocks_[block]->host[0]);
  }

  LastCompletion sink_;
  CpuBackend device_{sink_, std::make_shared<ComputePool>(2)};
  std::unique_ptr<MemoryBlock> blocks_[4];
};

TEST_F(FailingSteps, leave_those_alone_that_only_overwrite_what_they_read) {
  set(2, 7);
  const Step steps[] = {failing(0, 1), copy(2, 0, 0)};
  EXPECT_EQ(failed_of(steps), std::vector<std::uint32_t>{0});
  EXPECT_EQ(first(0), 7);
}

TEST_F(FailingSteps, leave_those_alone_that_overwrite_what_they_should_have_written) {
  set(2, 7);
  set(3, 0);
  const Step steps[] = {failing(0, 1), copy(2, 1, 0), copy(1, 3, 1)};
  EXPECT_EQ(failed_of(steps), std::vector<std::uint32_t>{0});
  EXPECT_EQ(first(3), 7);
}

TEST_F(FailingSteps, take_their_readers_and_the_readers_of_those_with_them) {
  set(3, 5);
  const Step steps[] = {failing(0, 1), copy(1, 2, 0), copy(2, 3, 1)};
  EXPECT_EQ(failed_of(steps), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(first(3), 5);
}

}  // namespace
}  // namespace stoker::device::cpu
