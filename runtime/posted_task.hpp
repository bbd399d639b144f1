// A task on its way through Asio: what thread_pool.cpp and asio_executor.cpp post. Internal.
#pragma once

#include <exception>
#include <utility>

#include "stoker/runtime/task.hpp"

namespace stoker::detail {

/// Runs a task through `Host::execute(Task&)`. If Asio destroys it unrun, because the context goes,
/// the task is dropped; if posting it threw, the poster still has the task.
template <class Host> class PostedTask {
 public:
  PostedTask(Host& host, Task& task) noexcept
      : host_(&host), task_(&task), exceptions_(std::uncaught_exceptions()) {}
  PostedTask(PostedTask&& other) noexcept
      : host_(other.host_),
        task_(std::exchange(other.task_, nullptr)),
        exceptions_(other.exceptions_) {}
  PostedTask& operator=(PostedTask&&) = delete;
  ~PostedTask() {
    if (task_ != nullptr && std::uncaught_exceptions() <= exceptions_) task_->drop();
  }
  void operator()() noexcept { host_->execute(*std::exchange(task_, nullptr)); }

 private:
  Host* host_;
  Task* task_;
  int exceptions_;  // in flight when it was posted: one more means that posting threw
};

}  // namespace stoker::detail
