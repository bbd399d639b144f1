// Why the contents of one buffer mean nothing: the failed or cancelled commands that would have written it.
//
// Only commands behind a writer suffer from it, until one overwrites everything.
//
// Threads: one at a time (the device's strand).
#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>

#include "stoker/runtime/futures/future_core.hpp"

namespace stoker {

class Poison {
 public:
  struct Entry {
    std::uint64_t sequence = 0;  ///< of the writer
    Error cause;
    /// Kept, so that its failure is logged only if nobody has heard of it when this goes.
    boost::intrusive_ptr<const FutureCore> writer;
  };

  /// A writer has failed. Never fails: without memory, and beyond sixteen, an entry between the oldest, which
  /// decides now, and the newest, which may later, makes room.
  void add(Entry entry) noexcept;
  /// The command with that sequence number has overwritten everything.
  void overwritten(std::uint64_t sequence) noexcept;

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// Why the contents mean nothing to the command with that sequence number, which hands it on: the failures
  /// of all writers before it count as heard. Null if they are sound.
  [[nodiscard]] const Error* hand_on(std::uint64_t sequence) const noexcept;
  /// The oldest writer's. Requires that there is one.
  [[nodiscard]] const Error& cause() const noexcept { return entries_.front().cause; }

 private:
  // By sequence. The two that matter stand here and need no memory.
  boost::container::small_vector<Entry, 2> entries_;
};

}  // namespace stoker
