// A value that lasts as long as the process: its destructor never runs.
//
// For tables that threads look into. exit() destroys what is static while they still run, and a thread that
// trains or evaluates does not ask first:
//
//     const Table& table() {
//       static const NeverDestroyed<Table> made{[] { return Table{…}; }};
//       return *made;
//     }
//
// Threads: construction is as safe as a function-local static; use of the value is as safe as its type.
#pragma once

#include <concepts>

namespace stoker {

template <class T> class NeverDestroyed {
 public:
  template <std::invocable Make> explicit NeverDestroyed(const Make& make) : value_(make()) {}
  ~NeverDestroyed() {
  }  // NOLINT(modernize-use-equals-default): that would have to destroy the value
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;
  [[nodiscard]] const T& operator*() const noexcept { return value_; }

 private:
  union {
    T value_;
  };
};

}  // namespace stoker
