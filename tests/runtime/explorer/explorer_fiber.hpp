// The fibers of an exploration: a stack on the heap that is entered and left by hand, as
// runtime/process/process.cpp does it, but without an executor, and used again for the next schedule.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "stoker/runtime/base/sanitizers.hpp"

namespace stoker::explore {

class Fiber {
 public:
  /// `body` never returns: it leaves for ever instead.
  explicit Fiber(std::function<void()> body)
      : body_(std::move(body)),
        stack_(std::make_unique_for_overwrite<std::byte[]>(stack_bytes)),
        fiber_(sanitizers::create_fiber()) {
    inside_ = boost::context::detail::make_fcontext(stack_.get() + stack_bytes, stack_bytes,
                                                    &Fiber::main);
  }
  ~Fiber() {
    sanitizers::unpoison(stack_.get(), stack_bytes);
    sanitizers::destroy_fiber(fiber_);
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body until it leaves.
  void enter() noexcept {
    void* fake_stack = nullptr;
    outside_fiber_ = sanitizers::current_fiber();
    sanitizers::start_switch(&fake_stack, stack_.get(), stack_bytes);
    sanitizers::switch_fiber(fiber_);
    inside_ = boost::context::detail::jump_fcontext(inside_, this).fctx;
    sanitizers::finish_switch(fake_stack, nullptr, nullptr);
  }
  /// Within the body: goes back to whoever entered.
  void leave() noexcept {
    void* fake_stack = nullptr;
    sanitizers::start_switch(&fake_stack, outside_base_, outside_bytes_);
    sanitizers::switch_fiber(outside_fiber_);
    outside_ = boost::context::detail::jump_fcontext(outside_, nullptr).fctx;
    sanitizers::finish_switch(fake_stack, &outside_base_, &outside_bytes_);
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{256} * 1024;

  static void main(boost::context::detail::transfer_t from) noexcept {
    Fiber& self = *static_cast<Fiber*>(from.data);
    self.outside_ = from.fctx;
    sanitizers::finish_switch(nullptr, &self.outside_base_, &self.outside_bytes_);
    self.body_();
  }

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;
  boost::context::detail::fcontext_t inside_ = nullptr;
  boost::context::detail::fcontext_t outside_ = nullptr;
  // For the sanitizers:
  void* fiber_;
  void* outside_fiber_ = nullptr;
  const void* outside_base_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

}  // namespace stoker::explore
