// What this machine's cores and memory allow, measured: the floors that rows are compared with.
//
// Every function uses `threads` threads, the calling one among them. Units: bytes, operations and
// nanoseconds per second or per event, as named.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace stoker::bench {

/// The processor's name and the number of cores this process may use.
[[nodiscard]] std::string processor();
[[nodiscard]] unsigned usable_cores();

/// Nanoseconds that a cache line takes from one core to another: the first two this process may
/// use. In a virtual machine this can change within seconds.
[[nodiscard]] double core_distance_ns();

/// Single-precision multiply-adds at the widest instruction set, in operations a second (a
/// multiply-add counts two).
[[nodiscard]] double fma_peak(unsigned threads);

/// Three arrays far larger than the caches, and the loops that STREAM runs over them.
class MemoryFloor {
 public:
  MemoryFloor(std::size_t elements, unsigned threads);
  ~MemoryFloor();
  MemoryFloor(const MemoryFloor&) = delete;
  MemoryFloor& operator=(const MemoryFloor&) = delete;

  // Each runs once and returns bytes per second, counting what the loop names: 12 bytes an element
  // for the triad a = b + s·c, 8 for the copy a = b, 4 for the sum of b.
  double triad();
  double triad_streaming();  ///< with stores that bypass the caches
  double copy();
  double read();

 private:
  class Crew;
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(float* memory) const noexcept;
  };
  using Array = std::unique_ptr<float[], Unmap>;
  /// In huge pages, as far as the system has them.
  [[nodiscard]] static Array array(std::size_t elements, float value);

  const std::size_t size_;
  Array a_, b_, c_;
  std::unique_ptr<Crew> crew_;
};

}  // namespace stoker::bench
