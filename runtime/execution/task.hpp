// The unit of work an executor runs: an object with one virtual function, linked intrusively.
//
// Ownership: the code that posts a task keeps it alive until run() or drop() is called; an executor
//            does not access a task after that call has begun, so both may destroy the task.
// Threads:   one call at a time; a posted task may be posted again only when it runs.
#pragma once

namespace stoker {

class Task {
 public:
  /// The work. Called exactly once for each post, unless drop() is called instead.
  virtual void run() noexcept = 0;
  /// Called instead of run() if the executor is destroyed before it runs the task. A host's event
  /// loop does this; Stoker's own pool finishes posted tasks, but has no threads in a child of
  /// fork().
  virtual void drop() noexcept {}

  Task* next = nullptr;  ///< used by the queue that holds the task
  /// Set if the task is short and never waits, so that tasks it defers may wait for its end.
  bool brief = false;

 protected:
  ~Task() = default;
};

/// First in, first out, linked through Task::next. Not thread-safe.
class TaskQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  void push(Task& task) noexcept {
    task.next = nullptr;
    (tail_ ? tail_->next : head_) = &task;
    tail_ = &task;
  }
  /// The oldest task, or null.
  [[nodiscard]] Task* pop() noexcept {
    Task* task = head_;
    if (task == nullptr) return nullptr;
    head_ = task->next;
    if (head_ == nullptr) tail_ = nullptr;
    return task;
  }

 private:
  Task* head_ = nullptr;
  Task* tail_ = nullptr;
};

}  // namespace stoker
