#include "stoker/runtime/process/process.hpp"

#include <cxxabi.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <thread>

#include "stoker/runtime/base/sanitizers.hpp"
#include "stoker/runtime/base/thread_local.hpp"
#include "stoker/runtime/execution/stack_pool.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

namespace context = boost::context::detail;

thread_local ProcessBase* running_process = nullptr;

/// The C++ runtime's per-thread record of exceptions being handled: two words, by the Itanium ABI.
/// A process that waits inside a catch block takes it along.
struct ExceptionState {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

}  // namespace

STOKER_THREAD_LOCAL_ACCESS static ProcessBase*& running() noexcept { return running_process; }

STOKER_THREAD_LOCAL_ACCESS static void exchange_exception_state(ExceptionState& state) noexcept {
  auto* here = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  std::swap(*here, state);
}

/// The two sides of a process. `enter` and `leave` are the only functions that jump.
struct ProcessBase::Switch {
  explicit Switch(Stack memory) noexcept : stack(memory), fiber(sanitizers::create_fiber()) {
    inside = context::make_fcontext(stack.top(), stack.bytes, &Switch::main);
  }
  ~Switch() { sanitizers::destroy_fiber(fiber); }

  /// Runs the process until it leaves.
  void enter(ProcessBase& process) noexcept {
    exchange_exception_state(exceptions);
    outside_fiber = sanitizers::current_fiber();
    void* fake_stack = nullptr;
    sanitizers::start_switch(&fake_stack, stack.base, stack.bytes);
    sanitizers::switch_fiber(fiber);
    inside = context::jump_fcontext(inside, &process).fctx;
    sanitizers::finish_switch(fake_stack, nullptr, nullptr);
    exchange_exception_state(exceptions);
  }

  /// Goes back to whoever entered; returns when entered again.
  void leave(bool for_ever) noexcept {
    void* fake_stack = nullptr;
    sanitizers::start_switch(for_ever ? nullptr : &fake_stack, outside_base, outside_bytes);
    sanitizers::switch_fiber(outside_fiber);
    outside = context::jump_fcontext(outside, nullptr).fctx;
    sanitizers::finish_switch(fake_stack, &outside_base, &outside_bytes);
  }

  static void main(context::transfer_t from) noexcept {
    auto& process = *static_cast<ProcessBase*>(from.data);
    Switch& self = *process.switch_;
    self.outside = from.fctx;
    sanitizers::finish_switch(nullptr, &self.outside_base, &self.outside_bytes);
    process.body_->run();
    process.request_ = Request::end;
    self.leave(true);
  }

  Stack stack;
  context::fcontext_t inside;
  context::fcontext_t outside = nullptr;
  ExceptionState exceptions;
  // For the sanitizers:
  void* fiber;
  void* outside_fiber = nullptr;
  const void* outside_base = nullptr;
  std::size_t outside_bytes = 0;
};

struct ProcessBase::Deleter {
  void operator()(ProcessBase* process) const noexcept { delete process; }
};

ProcessBase::ProcessBase(Executor& executor, std::unique_ptr<ProcessBody> body,
                         ProcessOptions options, ProcessScheduler* scheduler)
    : executor_(executor.keep()),
      scheduler_(scheduler),
      body_(std::move(body)),
      name_(std::move(options.name)) {
  const Stack stack = executor.stacks().take(options.stack_bytes);
  try {
    switch_ = std::make_unique<Switch>(stack);
  } catch (...) {
    executor.stacks().give_back(stack);
    throw;
  }
  executor.live_processes_.fetch_add(1, std::memory_order_relaxed);
}

ProcessBase::~ProcessBase() {
  executor_->stacks().give_back(switch_->stack);
  executor_->live_processes_.fetch_sub(1, std::memory_order_release);
}

void ProcessBase::start(Executor& executor, std::unique_ptr<ProcessBody> body,
                        ProcessOptions options, ProcessScheduler* scheduler) {
  std::unique_ptr<ProcessBase, Deleter> process{
      new ProcessBase{executor, std::move(body), std::move(options), scheduler}};
  process.release()->schedule();  // owns itself until it ends
}

void ProcessBase::schedule() noexcept {
  if (scheduler_)
    scheduler_->schedule(static_cast<Task&>(*this));
  else
    executor_->post(static_cast<Task&>(*this));
}

ProcessBase* ProcessBase::current() noexcept { return running(); }

void ProcessBase::run() noexcept {
  for (;;) {
    ProcessBase* const outer = std::exchange(running(), this);
    BlockingContext* const outer_context = set_blocking_context(this);
    switch_->enter(*this);
    running() = outer;
    set_blocking_context(outer_context);
    switch (request_) {
      case Request::yield:
        // From here on, as after a successful commit, it may already run on another thread.
        return schedule();
      case Request::park:
        if (parker_->commit()) return;
        continue;  // unparked before it was parked
      default: {
        const std::unique_ptr<ProcessBody> body = std::move(body_);
        std::unique_ptr<ProcessBase, Deleter>{this}.reset();
        return body->ended();
      }
    }
  }
}

void ProcessBase::drop() noexcept {
  if (switch_->outside == nullptr) {  // never ran: nothing lies on its stack
    const std::unique_ptr<ProcessBody> body = std::move(body_);
    std::unique_ptr<ProcessBase, Deleter>{this}.reset();
    return body->lost();
  }
  try {
    log_error("an executor was destroyed before a parked process could end", {{"process", name_}});
  } catch (const std::bad_alloc&) {  // it is not told
  }
  executor_->live_processes_.fetch_sub(1, std::memory_order_release);
  executor_.reset();
  sanitizers::ignore_leak(this);
  body_->lost();
}

void ProcessBase::block(Parker& parker, const std::chrono::steady_clock::time_point*) noexcept {
  parker.bind(*this);
  parker_ = &parker;
  leave(Request::park);
}

void ProcessBase::yield() noexcept { leave(Request::yield); }

void ProcessBase::leave(Request request) noexcept {
  request_ = request;
  switch_->leave(false);
}

namespace this_process {

bool inside() noexcept { return running() != nullptr; }

std::string_view name() noexcept {
  const ProcessBase* process = running();
  return process ? process->name() : std::string_view{};
}

void yield() noexcept {
  if (ProcessBase* process = running())
    process->yield();
  else
    std::this_thread::yield();
}

void sleep_until(Clock& clock, Clock::time_point when) noexcept {
  Parker never_unparked;
  static_cast<void>(never_unparked.park_until(clock, when));
}

}  // namespace this_process
}  // namespace stoker
