#include "stoker/device/memory/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>

#include "stoker/runtime/base/sanitizers.hpp"

namespace stoker {
namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
/// From here on a block is mapped: what is given up goes back to the system at once, while a heap
/// keeps what lies below its newest piece. The address sanitizer watches the heap only.
constexpr std::uint64_t mapped_from =
    sanitizers::address ? std::numeric_limits<std::uint64_t>::max() : std::uint64_t{128} << 10;

/// `length` bytes (whole pages) that begin at a multiple of `alignment`; null if there are none.
std::byte* map_aligned(std::uint64_t length, std::uint64_t alignment, std::uint64_t page) noexcept {
  const std::uint64_t extra = alignment - page;
  if (length + extra < length) return nullptr;
  void* const area =
      mmap(nullptr, length + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(area);
  const std::uint64_t before = -reinterpret_cast<std::uint64_t>(first) % alignment;
  if (before) munmap(first, before);
  if (extra - before) munmap(first + before + length, extra - before);
  return first + before;
}

class PoolBlock final : public MemoryBlock {
 public:
  PoolBlock() = default;
  PoolBlock(const PoolBlock&) = delete;
  PoolBlock& operator=(const PoolBlock&) = delete;
  ~PoolBlock() override {
    if (mapped_)
      munmap(host, mapped_);
    else
      ::operator delete (host, std::align_val_t{alignment_});
  }

  /// False if the host has no memory.
  [[nodiscard]] bool get(std::uint64_t size, MemoryKind use) noexcept {
    alignment_ = size >= 2 * huge_page ? huge_page : host_alignment;
    const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    if (size >= mapped_from && size < size + page) {
      mapped_ = (size + page - 1) / page * page;
      host = map_aligned(mapped_, std::max(alignment_, page), page);
      if (!host) mapped_ = 0;
    } else {
      host = static_cast<std::byte*>(::operator new (std::max<std::uint64_t>(size, 1),
                                                     std::align_val_t{alignment_}, std::nothrow));
    }
    if (!host) return false;
    // Page faults dominate the first pass over fresh memory; fewer, larger pages make them cheap.
    if (alignment_ == huge_page) static_cast<void>(madvise(host, size, MADV_HUGEPAGE));
    address = reinterpret_cast<std::uint64_t>(host);
    bytes = size;
    kind = use;
    return true;
  }

 private:
  std::uint64_t alignment_ = host_alignment;
  std::uint64_t mapped_ = 0;  // bytes; 0: from the heap
};

}  // namespace

Result<std::unique_ptr<MemoryBlock>> allocate_host_block(std::uint64_t bytes, MemoryKind kind) {
  auto block = std::make_unique<PoolBlock>();
  if (!block->get(bytes, kind))
    return Error{"allocate",
                 ErrorCode::out_of_memory,
                 "the host has no memory left",
                 {{"requested", std::to_string(bytes)}}};
  return std::unique_ptr<MemoryBlock>{std::move(block)};
}

std::uint64_t host_memory_bytes() noexcept {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  std::uint64_t bytes = pages * static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  try {
    std::ifstream cgroup{"/sys/fs/cgroup/memory.max"};
    std::uint64_t limit = 0;
    if (cgroup >> limit) bytes = std::min(bytes, limit);  // "max" does not parse: no limit
  } catch (...) {                                         // an unreadable file is no limit either
  }
  return bytes;
}

}  // namespace stoker
