#include "stoker/runtime/execution/manual_executor.hpp"

#include "stoker/runtime/base/thread_local.hpp"

namespace stoker {
namespace {
thread_local const Executor* running_here = nullptr;
}

STOKER_THREAD_LOCAL_ACCESS static const Executor*& running() noexcept { return running_here; }

void ManualExecutor::drop_all() noexcept {
  while (Task* task = take()) task->drop();
}

void ManualExecutor::post(Task& task) noexcept {
  const std::lock_guard lock{mutex_};
  queue_.push(task);
  ++size_;
}

bool ManualExecutor::in_executor() const noexcept { return running() == this; }

Task* ManualExecutor::take() noexcept {
  const std::lock_guard lock{mutex_};
  if (size_ == 0) return nullptr;
  if (random_) {
    // Turn the ring by a random number of places: any of the tasks comes out first.
    for (std::uint64_t turns = (*random_)() % size_; turns > 0; --turns) queue_.push(*queue_.pop());
  }
  --size_;
  return queue_.pop();
}

void ManualExecutor::run(Task& task) noexcept {
  const Executor* before = std::exchange(running(), this);
  task.run();
  running() = before;
}

bool ManualExecutor::run_one() noexcept {
  Task* task = take();
  if (task == nullptr) return false;
  run(*task);
  return true;
}

bool ManualExecutor::run_one(const Task& task) noexcept {
  Task* found = nullptr;
  {
    const std::lock_guard lock{mutex_};
    TaskQueue others;
    while (Task* one = queue_.pop()) {
      if (one == &task)
        found = one;
      else
        others.push(*one);
    }
    queue_ = others;
    if (found) --size_;
  }
  if (found) run(*found);
  return found != nullptr;
}

std::size_t ManualExecutor::run_all(std::size_t limit) noexcept {
  std::size_t ran = 0;
  while (ran < limit && run_one()) ++ran;
  return ran;
}

std::size_t ManualExecutor::ready() const noexcept {
  const std::lock_guard lock{mutex_};
  return size_;
}

}  // namespace stoker
