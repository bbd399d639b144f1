// Delays waking threads until the waker has released what they will need.
//
// Where there are no more cores than threads at work, the system gives the core of the one who wakes to the
// one who is woken, at once. If the first is in the middle of a strand's turn, the second finds the strand
// taken by a thread that does not run, and what it sends waits until it sleeps again.
//
//     {
//       const DeferredWakes held;
//       …                      // futures become ready; plain threads that wait for them sleep on
//     }                        // now they are woken
//
// Whatever may wait for another thread on its own, and may be called in between (a user's deleter, say),
// calls flush() before. Parking does so by itself.
//
// Threads: one's own. Nests: the outermost one wakes.
#pragma once

namespace stoker {

class DeferredWakes {
 public:
  DeferredWakes() noexcept;
  ~DeferredWakes();
  DeferredWakes(const DeferredWakes&) = delete;
  DeferredWakes& operator=(const DeferredWakes&) = delete;

  /// Wakes whom this thread holds so far.
  static void flush() noexcept;
};

}  // namespace stoker
