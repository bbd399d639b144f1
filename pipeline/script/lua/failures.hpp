// What failed on the device, and whether the script was told.
//
// A command may fail before the script waits for it, while it does, or without anybody waiting, and
// the script may hear of it through a value that depends on it. Copies of an Error share their
// text, and whatever depended on a failed command fails with a copy of its error; so one entry here
// stands for a failure and all that came of it.
//
// Threads: the script's process only.
#pragma once

#include <deque>
#include <optional>

#include "stoker/runtime/base/error.hpp"

namespace stoker::script {

class Failures {
 public:
  /// Failures that are told apart. Beyond, the oldest is forgotten if the script was told of it, and
  /// otherwise stays untold until take_untold().
  static constexpr std::size_t most = 64;

  /// A command failed.
  void add(const Error& failure) { entry(failure); }
  /// The script was told.
  void tell(const Error& failure) { entry(failure).told = true; }
  /// The oldest failure that the script was not told of; it counts as told from now on.
  [[nodiscard]] std::optional<Error> take_untold();

 private:
  struct Entry {
    Error error;
    bool told = false;
  };

  Entry& entry(const Error& failure);

  std::deque<Entry> entries_;        // oldest first
  std::optional<Error> overlooked_;  // older than all of these
};

}  // namespace stoker::script
