#include "stoker/device/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <new>

namespace stoker {
namespace {

constexpr std::uint64_t huge_page = 2 * 1024 * 1024;

class OwnedHostBlock final : public MemoryBlock {
 public:
  OwnedHostBlock(std::byte* data, std::uint64_t size, std::size_t alignment,
                 MemoryKind use) noexcept
      : alignment_{alignment} {
    host = data;
    address = reinterpret_cast<std::uint64_t>(data);
    bytes = size;
    kind = use;
  }
  OwnedHostBlock(const OwnedHostBlock&) = delete;
  OwnedHostBlock& operator=(const OwnedHostBlock&) = delete;
  ~OwnedHostBlock() override { ::operator delete (host, std::align_val_t{alignment_}); }

 private:
  std::size_t alignment_;
};

}  // namespace

Result<std::unique_ptr<MemoryBlock>> allocate_host_block(std::uint64_t bytes, MemoryKind kind) {
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : host_alignment;
  const std::uint64_t rounded = std::max<std::uint64_t>(bytes, 1);
  void* data = ::operator new (rounded, std::align_val_t{alignment}, std::nothrow);
  if (data == nullptr)
    return Error{"allocate",
                 ErrorCode::out_of_memory,
                 "the host has no memory left",
                 {{"requested", std::to_string(bytes)}}};
  // Page faults dominate the first pass over fresh memory; fewer, larger pages make them cheap.
  if (alignment == huge_page) static_cast<void>(madvise(data, rounded, MADV_HUGEPAGE));
  return std::unique_ptr<MemoryBlock>{
      std::make_unique<OwnedHostBlock>(static_cast<std::byte*>(data), bytes, alignment, kind)};
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
