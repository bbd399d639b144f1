// Waiting for several futures at once.
//
// when_all(futures)       -> Future<std::vector<T>>  (Future<void> for futures of void)
// when_all(a, b, c)       -> Future<std::tuple<A, B, C>>, void as std::monostate
// when_any(futures)       -> Future<std::size_t>, the index of the first to become ready
//
// when_all is ready when every input is; it then fails with the error of the first input (by
// position) that failed, so nothing of the group is still running when a caller sees the failure.
// when_any ignores outcomes, and drops the other inputs. Nothing runs on an executor; cancel() on
// the result cancels every input. An empty future among the inputs throws invalid_argument.
//
// Threads: any. The result becomes ready on the thread that makes the deciding input ready, or inside the call.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/runtime/futures/future.hpp"

namespace stoker {
namespace detail {

using CorePtr = boost::intrusive_ptr<FutureCore>;

/// Counts down as inputs become ready. Owns itself until the last one is ready.
class AllGate {
 public:
  explicit AllGate(std::vector<CorePtr> inputs)
      : inputs_(std::move(inputs)), waiters_(inputs_.size()) {}

 protected:
  ~AllGate() = default;
  /// Registers everywhere; calls all_ready() at once if there is nothing to wait for.
  void start() noexcept;
  void cancel_inputs() noexcept;
  virtual void all_ready() noexcept = 0;

 private:
  struct Each final : Waiter {
    AllGate* gate = nullptr;
    void wake() noexcept override { gate->arrive(); }
  };
  void arrive() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_ready();
  }

  std::vector<CorePtr> inputs_;
  std::vector<Each> waiters_;
  std::atomic<std::size_t> left_{0};
};

/// The state of a when_all: `Collect` makes the outcome once every input is ready.
template <class T, class Collect> class AllState final : public FutureState<T>, private AllGate {
 public:
  AllState(std::vector<CorePtr> inputs, Collect collect)
      : AllGate(std::move(inputs)), collect_(std::move(collect)) {}
  void start() noexcept {
    intrusive_ptr_add_ref(this);
    AllGate::start();
  }

 private:
  void all_ready() noexcept override {
    const boost::intrusive_ptr<AllState> self{this, false};
    this->complete(call_as_result<T>("when_all", collect_));
  }
  void cancel() noexcept override { cancel_inputs(); }
  Collect collect_;
};

/// Throws invalid_argument if one of the futures is empty.
void check_inputs(const char* op, const std::vector<CorePtr>& inputs);

template <class T, class Collect> Future<T> all_of(std::vector<CorePtr> inputs, Collect collect) {
  check_inputs("when_all", inputs);
  boost::intrusive_ptr state{
      new AllState<T, Collect>{std::move(inputs), std::move(collect)}};  // NOLINT
  state->start();
  return Future<T>{std::move(state)};
}

template <class T> using stored_t = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
template <class T> stored_t<T> stored_value(const Future<T>& future) {
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return *future.state()->result();
}
template <class T> void throw_if_failed(const Future<T>& future) {
  if (const Result<T>& result = *future.poll(); result.has_error()) throw result.error();
}

[[nodiscard]] Future<std::size_t> any_of(std::vector<CorePtr> inputs);

}  // namespace detail

template <class T> [[nodiscard]] auto when_all(std::vector<Future<T>> futures) {
  using Value = std::conditional_t<std::is_void_v<T>, void, std::vector<detail::stored_t<T>>>;
  std::vector<detail::CorePtr> inputs;
  inputs.reserve(futures.size());
  for (const Future<T>& future : futures) inputs.emplace_back(future.state());
  return detail::all_of<Value>(std::move(inputs), [futures = std::move(futures)]() -> Value {
    for (const Future<T>& future : futures) detail::throw_if_failed(future);
    if constexpr (!std::is_void_v<T>) {
      Value values;
      values.reserve(futures.size());
      for (const Future<T>& future : futures) values.push_back(detail::stored_value(future));
      return values;
    }
  });
}

template <class... Ts>
[[nodiscard]] Future<std::tuple<detail::stored_t<Ts>...>> when_all(const Future<Ts>&... futures) {
  using Value = std::tuple<detail::stored_t<Ts>...>;
  return detail::all_of<Value>({detail::CorePtr{futures.state()}...}, [futures...]() -> Value {
    (detail::throw_if_failed(futures), ...);
    return Value{detail::stored_value(futures)...};
  });
}

/// Fails with invalid_argument if there are no futures, because none can be first.
template <class T>
[[nodiscard]] Future<std::size_t> when_any(const std::vector<Future<T>>& futures) {
  std::vector<detail::CorePtr> inputs;
  inputs.reserve(futures.size());
  for (const Future<T>& future : futures) inputs.emplace_back(future.state());
  return detail::any_of(std::move(inputs));
}
template <class... Ts>
requires(sizeof...(Ts) > 0)
    [[nodiscard]] Future<std::size_t> when_any(const Future<Ts>&... futures) {
  return detail::any_of({detail::CorePtr{futures.state()}...});
}

}  // namespace stoker
