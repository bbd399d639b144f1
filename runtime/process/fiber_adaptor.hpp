// For callers that run in Boost.Fiber: while a FiberAdaptor exists on a thread, all waits of Stoker
// on that thread (Future::wait, Timeline::wait, a full mailbox) park the calling
// boost::fibers::fiber, and the thread's other fibers continue. Link Stoker::fiber to use it.
//
// Threads: install one per thread that runs fibers, and destroy it on the same thread. Fibers wake
//          on the thread they parked on, unless their own scheduler shares work.
#pragma once

#include "stoker/runtime/execution/parker.hpp"

namespace stoker {

class FiberAdaptor final : private BlockingContext {
 public:
  FiberAdaptor() noexcept : before_(set_blocking_context(this)) {}
  ~FiberAdaptor() { set_blocking_context(before_); }
  FiberAdaptor(const FiberAdaptor&) = delete;
  FiberAdaptor& operator=(const FiberAdaptor&) = delete;

 private:
  void block(Parker& parker,
             const std::chrono::steady_clock::time_point* deadline) noexcept override;
  BlockingContext* before_;
};

}  // namespace stoker
