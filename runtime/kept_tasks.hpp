// Tasks that could not be posted because there was no memory. They run with the next task that gets
// through, so that a post never fails. Internal.
#pragma once

#include <atomic>

#include "stoker/runtime/task.hpp"

namespace stoker::detail {

class KeptTasks {
 public:
  ~KeptTasks() {
    for (Task* task = newest_.load(); task != nullptr;) {
      Task* following = task->next;
      task->drop();
      task = following;
    }
  }
  void add(Task& task) noexcept {
    task.next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(task.next, &task, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }
  void run_all() noexcept {
    if (newest_.load(std::memory_order_relaxed) == nullptr) return;
    Task* oldest = nullptr;
    for (Task* task = newest_.exchange(nullptr, std::memory_order_acquire); task != nullptr;) {
      Task* following = task->next;
      task->next = oldest;
      oldest = task;
      task = following;
    }
    while (oldest != nullptr) {
      Task* following = oldest->next;
      oldest->run();
      oldest = following;
    }
  }

 private:
  std::atomic<Task*> newest_{nullptr};
};

}  // namespace stoker::detail
