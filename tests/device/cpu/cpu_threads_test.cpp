// What the CPU device's threads compute with, and which part of the work each of them takes.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>

#include "stoker/device/cpu/cpu_backend.hpp"

namespace stoker::device::cpu {
namespace {

class NoSink final : public CompletionSink {
 public:
  void on_completed(Completion) noexcept override {}
  void on_lost(Error) noexcept override {}
};

/// `cost_ns`: how long it is guessed to take in all; 0: any time.
std::shared_ptr<const Executable> executable_of(CpuStage stage, double cost_ns = 0) {
  auto executable = std::make_shared<CpuExecutable>();
  executable->plan.stages.push_back(std::move(stage));
  executable->plan.cost_ns = cost_ns;
  return executable;
}

class CpuThreads : public testing::Test {
 protected:
  void open(const CpuBackend::Options& options) {
    device_ = std::make_unique<CpuBackend>(sink_, std::make_shared<ComputePool>(2), options);
  }
  static Step step_of(std::shared_ptr<const Executable> executable) {
    Step step;
    step.executable = std::move(executable);
    return step;
  }
  /// Nobody helps: the threads of the pool do it.
  void submit(const Step& step) {
    const std::uint64_t value = ++submitted_;
    const QueuePoint before{QueueKind::compute, value - 1};
    EXPECT_TRUE(device_->submit({QueueKind::compute, value, {&before, 1}, {&step, 1}}));
  }

  /// The caller helps where it may.
  void wait_for(std::uint64_t value) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    ASSERT_TRUE(device_->wait({QueueKind::compute, value}, deadline));
  }

  NoSink sink_;
  std::unique_ptr<CpuBackend> device_;
  std::uint64_t submitted_ = 0;
};

/// A kernel that multiplies a subnormal number by 2.
struct Doubling {
  static constexpr float subnormal = 1e-39F;
  volatile float number = subnormal;
  volatile float result = -1;
  std::thread::id thread;
  std::binary_semaphore done{0};

  Step step() {
    Step step;
    step.executable = executable_of({1, [this](const CpuArgs&, std::uint32_t) {
                                       result = number * 2;
                                       thread = std::this_thread::get_id();
                                       done.release();
                                     }});
    return step;
  }
};

TEST_F(CpuThreads, compute_with_subnormal_numbers_unless_they_are_to_be_flushed) {
  for (const bool flush : {false, true}) {
    open({.flush_subnormals = flush});
    Doubling on_pool;
    const Step step = on_pool.step();
    submit(step);
    on_pool.done.acquire();
    EXPECT_NE(on_pool.thread, std::this_thread::get_id());
    EXPECT_EQ(on_pool.result, flush ? 0 : 2 * Doubling::subnormal);
    device_.reset();
    submitted_ = 0;
  }
}

TEST_F(CpuThreads, flush_subnormal_numbers_on_a_callers_thread_only_while_they_compute) {
  for (const bool flush : {false, true}) {
    open({.flush_subnormals = flush});
    Doubling here;
    const Step step = here.step();
    std::optional<Error> failure;
    ASSERT_TRUE(device_->run_at_once({&step, 1}, failure));
    EXPECT_EQ(here.thread, std::this_thread::get_id());
    EXPECT_EQ(here.result, flush ? 0 : 2 * Doubling::subnormal);
    here.result = here.number * 2;
    EXPECT_EQ(here.result, 2 * Doubling::subnormal) << "the caller's own numbers";
  }
}

TEST_F(CpuThreads, keep_their_part_of_the_slices_from_command_to_command) {
  open({});
  std::array<std::thread::id, 2> threads;
  std::barrier together{2};  // so that each of two threads takes one
  std::counting_semaphore<> done{0};
  const Step step = step_of(executable_of({2, [&](const CpuArgs&, std::uint32_t slice) {
                                             together.arrive_and_wait();
                                             threads[slice] = std::this_thread::get_id();
                                             done.release();
                                           }}));
  std::array<std::thread::id, 2> first;
  for (int round = 0; round < 200; ++round) {
    submit(step);
    done.acquire();
    done.acquire();
    if (round == 0) first = threads;
    ASSERT_EQ(threads, first) << "round " << round;
  }
}

constexpr double short_ns = 1e4;

/// Two slices that are computed at the same time, by whom they say.
struct Pair {
  std::barrier<> together{2};
  std::array<std::thread::id, 2> threads;

  CpuStage stage() {
    return {2, [this](const CpuArgs&, std::uint32_t slice) {
              together.arrive_and_wait();
              threads[slice] = std::this_thread::get_id();
            }};
  }
};

TEST_F(CpuThreads, compute_alone_what_a_caller_submits_that_has_helped_before) {
  open({});
  Pair pair;
  const Step helped = step_of(executable_of(pair.stage(), short_ns));
  std::array<std::thread::id, 2> threads;
  std::counting_semaphore<> done{0};
  const Step alone = step_of(executable_of({2,
                                            [&](const CpuArgs&, std::uint32_t slice) {
                                              threads[slice] = std::this_thread::get_id();
                                              done.release();
                                            }},
                                           short_ns));
  for (int round = 0; round < 200; ++round) {
    submit(helped);
    wait_for(submitted_);
    submit(alone);  // fewer threads are woken, as the caller is expected again
    done.acquire();
    done.acquire();
    for (const std::thread::id thread : threads) ASSERT_NE(thread, std::this_thread::get_id());
  }
  wait_for(submitted_);
}

}  // namespace
}  // namespace stoker::device::cpu
