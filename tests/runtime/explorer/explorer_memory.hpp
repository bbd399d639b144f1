// The memory that an explored program sees: for each atomic its history of stores, for each thread
// a vector clock. From them follows what C++20 allows a load to read, and which accesses race.
//
// Modelled: happens-before by release, acquire and seq_cst operations, release sequences, coherence.
//           A load may read any store that neither coherence nor happens-before rules out; one that
//           is seq_cst nothing older than the last seq_cst store to the same atomic.
// Not:      fences; a load that reads a store made later in the schedule (load buffering); a
//           modification order other than the schedule's; a read-modify-write, or a failing
//           compare-exchange, that reads anything but the newest value; spurious failures.
//           Nothing that was found is a false alarm for want of these, but something may be missed.
//
// Objects are known by their addresses, so instrumented ones have the size of the real ones.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace stoker::explore {

/// 0 is the thread that sets up and judges, before and after the others.
using ThreadNumber = unsigned;
inline constexpr ThreadNumber max_threads = 6;

/// How many operations of each thread are known to have happened before.
struct VectorClock {
  std::array<std::uint32_t, max_threads> at{};
  void join(const VectorClock& other) noexcept {
    for (ThreadNumber t = 0; t < max_threads; ++t) at[t] = std::max(at[t], other.at[t]);
  }
  [[nodiscard]] bool covers(const VectorClock& other) const noexcept {
    for (ThreadNumber t = 0; t < max_threads; ++t)
      if (at[t] < other.at[t]) return false;
    return true;
  }
};

class Memory {
 public:
  /// Forgets everything: a new schedule.
  void reset() noexcept;
  /// The thread begins knowing what thread 0 knows; at its end thread 0 learns what it knew.
  void begin(ThreadNumber thread) noexcept;
  void end(ThreadNumber thread) noexcept;

  void construct(ThreadNumber by, const void* object, std::uint64_t value);
  void destroy(ThreadNumber by, const void* object);
  /// Whether it was destroyed in this schedule: then it must not even be looked at.
  [[nodiscard]] bool destroyed(const void* object) const noexcept;

  /// Before anything else is done to an object that may be older than the exploration.
  void meet(const void* object, std::uint64_t value);

  // Atomics:
  /// How many stores a load may choose from; 0 back is the newest.
  [[nodiscard]] unsigned choices(ThreadNumber by, const void* object,
                                 std::memory_order order) const noexcept;
  std::uint64_t load(ThreadNumber by, const void* object, unsigned back, std::memory_order order);
  void store(ThreadNumber by, const void* object, std::uint64_t value, std::memory_order order);
  /// A read-modify-write: `value` replaces the newest one.
  void update(ThreadNumber by, const void* object, std::uint64_t value, std::memory_order order);
  /// How many stores there were, and up to which of them the thread has read.
  [[nodiscard]] std::size_t stores(const void* object) const noexcept;
  [[nodiscard]] std::size_t seen(ThreadNumber by, const void* object) const noexcept;

  // Plain objects:
  void read_plain(ThreadNumber by, const void* object);
  void write_plain(ThreadNumber by, const void* object);

  /// The first race, or empty.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// A short name that is the same in every schedule: the order of construction.
  [[nodiscard]] std::size_t number(const void* object) const noexcept;

 private:
  struct Store {
    std::uint64_t value;
    VectorClock released;  // what an acquiring reader learns
    ThreadNumber by;
    std::uint32_t when;
    bool seq_cst;
    std::array<std::uint32_t, max_threads> seen_when{};  // when each thread first read it, or 0
  };
  struct Object {
    const void* address = nullptr;
    bool alive = true;
    VectorClock writes;    // of a plain object, and the construction of any
    VectorClock accesses;  // all
    std::vector<Store> history;
  };
  Object& find(const void* object) noexcept { return objects_[number(object)]; }
  VectorClock& tick(ThreadNumber by) noexcept;
  void touch(ThreadNumber by, Object& object, const char* how);
  void race(const Object& object, const char* how);
  void append(ThreadNumber by, Object& object, std::uint64_t value, std::memory_order order,
              const VectorClock* continued);
  std::array<VectorClock, max_threads> clocks_;
  std::vector<Object> objects_;
  std::size_t used_ = 0;  // of objects_: what is left of the last schedule is used again
  std::string fault_;
};

}  // namespace stoker::explore
