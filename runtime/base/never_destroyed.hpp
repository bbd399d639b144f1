// A value that is made at its first use and exists as long as the process.
//
// Use it for tables that several threads read. exit() destroys static objects while threads still
// run, and a thread that trains or evaluates would then read a destroyed table. After fork(), a
// static object that a thread of the parent was initializing stays locked in the child, and any
// access waits for ever; here the child makes its own value.
//
//     const Table& table() {
//       static constinit NeverDestroyed<Table> made;
//       return made.get([] { return Table{…}; });
//     }
//
// Threads: any. Threads whose first calls coincide may each make a value, but all get the same one.
// So `make` must have no side effects and may not lock a ProcessMutex.
#pragma once

#include <atomic>
#include <concepts>
#include <memory>

namespace stoker {

template <class T> class NeverDestroyed {
 public:
  constexpr NeverDestroyed() noexcept = default;
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  /// The value, which `make` returns at the first call. If `make` throws, the exception is passed on,
  /// and the next call tries again.
  template <std::invocable Make> [[nodiscard]] const T& get(const Make& make) {
    if (const Held* there = held_.load(std::memory_order_acquire)) return there->value;
    auto own = std::make_unique<Held>(make);
    Held* first = nullptr;
    if (held_.compare_exchange_strong(first, own.get(), std::memory_order_acq_rel))
      first = own.release();
    return first->value;
  }

 private:
  struct Held {
    explicit Held(const std::invocable auto& make) : value(make()) {}
    const T value;
  };
  std::atomic<Held*> held_{nullptr};
};

}  // namespace stoker
