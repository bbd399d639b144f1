// Instrumented stand-ins for the standard's types, of the same size and interface as far as the
// explored sources use them, and two more for scenarios. Outside an exploration they are what they
// look like, for one thread.
//
// A condition variable wakes all of its waiters whoever is notified, and a wait with a deadline may
// end at any moment.
#pragma once

#include <chrono>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

#include "explorer.hpp"

namespace stoker::explore {

/// `tested`: it belongs to the code under test, as opposed to the scenario.
template <class T, bool tested = false> class Atomic {
  static constexpr std::size_t bytes = sizeof(T);  // NOLINT(bugprone-sizeof-expression): a T*
  static_assert(std::is_trivially_copyable_v<T> && bytes <= sizeof(std::uint64_t));
  using Order = std::memory_order;

 public:
  constexpr Atomic() noexcept : Atomic(T{}) {}
  constexpr Atomic(T value) noexcept : value_{value} {  // NOLINT: as in the standard
    if (!std::is_constant_evaluated())
      if (Explorer* e = Explorer::current()) e->memory().construct(e->self(), this, bits(value));
  }
  constexpr ~Atomic() {
    if (!std::is_constant_evaluated())
      if (Explorer* e = Explorer::current()) e->memory().destroy(e->self(), this);
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  operator T() const noexcept { return load(); }                 // NOLINT: as in the standard
  T operator=(T value) noexcept { return store(value), value; }  // NOLINT: as in the standard

  [[nodiscard]] T load(Order order = Order::seq_cst) const noexcept {
    Explorer* e = step(Touch::reads, "load", order);
    return e != nullptr ? read(*e, e->choose_store(this, order), order) : value_;
  }
  void store(T value, Order order = Order::seq_cst) noexcept {
    if (Explorer* e = step(Touch::writes, "store", order))
      e->memory().store(e->self(), this, bits(value), order);
    value_ = value;
  }
  T exchange(T value, Order order = Order::seq_cst) noexcept {
    return update("exchange", order, [value](T) { return value; });
  }
  T fetch_add(T by, Order order = Order::seq_cst) noexcept {
    return update("fetch_add", order, [by](T value) { return static_cast<T>(value + by); });
  }
  T fetch_sub(T by, Order order = Order::seq_cst) noexcept {
    return update("fetch_sub", order, [by](T value) { return static_cast<T>(value - by); });
  }
  T fetch_or(T by, Order order = Order::seq_cst) noexcept {
    return update("fetch_or", order, [by](T value) { return static_cast<T>(value | by); });
  }
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure) noexcept {
    Explorer* e = step(Touch::writes, "compare_exchange", success);
    if (tested && e != nullptr) failure = e->granted(failure);
    if (bits(value_) == bits(expected)) {
      write(e, desired, success);
      return true;
    }
    expected = e != nullptr ? read(*e, 0, failure) : value_;
    if (e != nullptr) e->only_reads();
    return false;
  }
  bool compare_exchange_strong(T& expected, T desired, Order order = Order::seq_cst) noexcept {
    const Order failure = order == Order::acq_rel   ? Order::acquire
                          : order == Order::release ? Order::relaxed
                                                    : order;
    return compare_exchange_strong(expected, desired, order, failure);
  }
  template <class... Orders>
  bool compare_exchange_weak(T& expected, T desired, Orders... orders) noexcept {
    return compare_exchange_strong(expected, desired, orders...);
  }

 private:
  static std::uint64_t bits(T value) noexcept {
    std::uint64_t made = 0;
    std::memcpy(&made, &value, bytes);
    return made;
  }
  Explorer* step(Touch touch, const char* what, Order& order) const noexcept {
    Explorer* e = Explorer::current();
    if (e != nullptr) {
      if (tested) order = e->granted(order);
      e->step(this, touch, what);
      e->memory().meet(this, bits(value_));
    }
    return e;
  }
  T read(Explorer& e, unsigned back, Order order) const noexcept {
    const std::uint64_t read = e.memory().load(e.self(), this, back, order);
    T value;
    std::memcpy(&value, &read, bytes);
    return value;
  }
  void write(Explorer* e, T value, Order order) noexcept {
    if (e != nullptr) e->memory().update(e->self(), this, bits(value), order);
    value_ = value;
  }
  template <class F> T update(const char* what, Order order, F function) noexcept {
    Explorer* e = step(Touch::writes, what, order);
    const T before = value_;
    write(e, function(before), order);
    return before;
  }

  T value_;
};

class Mutex {
 public:
  Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept {
    step("lock", [this] { return !locked_; });
    take(true);
  }
  [[nodiscard]] bool try_lock() noexcept {
    step("try_lock", [] { return true; });
    return !locked_ && (take(true), true);
  }
  void unlock() noexcept {
    step("unlock", [] { return true; });
    take(false);
  }

 private:
  template <class Possible> void step(const char* what, Possible possible) noexcept {
    if (Explorer* e = Explorer::current()) e->step(this, Touch::writes, what, possible);
  }
  void take(bool locked) noexcept {
    locked_ = locked;
    if (Explorer* e = Explorer::current()) {
      e->memory().meet(this, 0);
      e->memory().update(e->self(), this, locked, std::memory_order_acq_rel);
    }
  }
  bool locked_ = false;
};

class ConditionVariable {
 public:
  void notify_one() noexcept {
    if (Explorer* e = Explorer::current()) e->step(this, Touch::writes, "notify");
    ++notified_;
  }
  void notify_all() noexcept { notify_one(); }
  template <class Predicate> void wait(std::unique_lock<Mutex>& lock, Predicate predicate) {
    while (!predicate()) {
      const unsigned before = notified_;
      lock.unlock();
      if (Explorer* e = Explorer::current())
        e->step(this, Touch::reads, "wait", [&] { return notified_ != before; });
      lock.lock();
    }
  }
  template <class Predicate>
  bool wait_until(std::unique_lock<Mutex>& lock, std::chrono::steady_clock::time_point,
                  Predicate predicate) {
    if (predicate()) return true;
    lock.unlock();
    if (Explorer* e = Explorer::current()) e->step(this, Touch::reads, "wait a while");
    lock.lock();
    return predicate();
  }

 private:
  unsigned notified_ = 0;
};

/// What is not atomic, and so must be touched by one thread after another. Not a point of switching:
/// a race is seen in any order.
template <class T> class Plain {
 public:
  Plain(T value = {}) : value_(std::move(value)) {  // NOLINT: as the thing itself
    if (Explorer* e = Explorer::current()) e->memory().construct(e->self(), this, 0);
  }
  ~Plain() {
    if (Explorer* e = Explorer::current()) e->memory().destroy(e->self(), this);
  }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;
  Plain& operator=(T value) {
    if (Explorer* e = Explorer::current()) e->memory().write_plain(e->self(), this);
    value_ = std::move(value);
    return *this;
  }
  [[nodiscard]] const T& get() const {
    if (Explorer* e = Explorer::current()) e->memory().read_plain(e->self(), this);
    return value_;
  }

 private:
  T value_;
};

/// Waiting for another thread of the scenario without the code under test.
class Event {
 public:
  void set() noexcept {
    check(state_.exchange(1, std::memory_order_acq_rel) == 0, "an event is set twice");
  }
  [[nodiscard]] bool is_set() const noexcept { return state_.load(std::memory_order_acquire) != 0; }
  void wait() noexcept {
    while (!is_set()) Explorer::current()->yield();
  }

 private:
  Atomic<int> state_{0};
};

}  // namespace stoker::explore
