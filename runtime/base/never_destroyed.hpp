// A value that is made when it is first asked for and lasts as long as the process.
//
// For tables that threads look into. exit() destroys what is static while they still run, and a
// thread that trains or evaluates does not ask first. fork() may leave a child with a static object
// that a thread of the parent was making, and whoever asks for that waits for ever; here the child
// makes its own.
//
//     const Table& table() {
//       static constinit NeverDestroyed<Table> made;
//       return made.get([] { return Table{…}; });
//     }
//
// Threads: any. Threads that ask first at the same time may each make a value; all are given the
// same one. So making it has no other effect, and it holds no ProcessMutex.
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

  /// The value; `make` returns it at the first call. What that throws is passed on, and the next call
  /// makes it.
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
