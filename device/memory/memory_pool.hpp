// Device memory that is given out, taken back and reused.
//
// A Lease is a piece of device memory; it returns to the pool when its last owner drops it, and
// whoever has work in flight on it is an owner. Small pieces are cut from slabs of one size class;
// large ones are blocks of their own. Freed memory is kept for the next taker within `cache_limit`
// and within the budget; trim() gives all of it back to the device.
//
// Threads: every function may be called from any thread. Lifetime: leases keep the pool alive, the
// pool keeps the backend alive.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/memory/hazards.hpp"
#include "stoker/device/scheduler_options.hpp"
#include "stoker/device/stats.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  using Options = MemoryOptions;

  class Lease {
   public:
    Lease(std::shared_ptr<MemoryPool> pool, MemoryView view, std::uint64_t rounded) noexcept;
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] const MemoryView& view() const noexcept { return view_; }
    /// Bytes really held, at least view().bytes: a buffer may grow up to here in place.
    [[nodiscard]] std::uint64_t capacity() const noexcept { return rounded_; }
    /// The device's strand only.
    [[nodiscard]] Hazards& hazards() noexcept { return hazards_; }

   private:
    friend class MemoryPool;
    std::shared_ptr<MemoryPool> pool_;
    MemoryView view_;
    std::uint64_t rounded_;
    Hazards hazards_;
  };

  /// Pieces of at least so many bytes are blocks of their own.
  static constexpr std::uint64_t large_bytes = (std::uint64_t{256} << 10) + 1;

  /// Owned by a shared_ptr always: leases hold on to it.
  MemoryPool(std::shared_ptr<Backend> backend, Options options);

  /// `bytes` may be 0. Errors: limit_exceeded (more than the device allows in one piece, or than the budget),
  /// out_of_memory; both with requested, limit and in_use. `op` names the caller.
  [[nodiscard]] Result<std::shared_ptr<Lease>> lease(std::uint64_t bytes, MemoryKind kind,
                                                     std::string_view op);
  /// The same out of what is free already; null rather than to ask the device.
  [[nodiscard]] std::shared_ptr<Lease> lease_free(std::uint64_t bytes, MemoryKind kind);
  /// The error of a lease() of so many bytes that no pause and no release could mend.
  [[nodiscard]] Result<void> check(std::uint64_t bytes, std::string_view op) const;

  [[nodiscard]] MemoryStats stats() const;
  /// Gives all cached memory back to the device; bytes given back.
  std::uint64_t trim();

 private:
  static constexpr std::size_t kinds = 3;
  struct Slab {
    std::unique_ptr<MemoryBlock> block;
    std::vector<std::uint32_t> free;  ///< indices of free pieces
    std::uint32_t pieces = 0;
  };
  /// The slabs of one size class; `open` lists those with a free piece.
  struct SizeClass {
    std::map<MemoryBlock*, Slab> slabs;
    std::vector<MemoryBlock*> open;
  };
  struct Shelf {
    std::map<std::uint64_t, SizeClass> small;
    std::multimap<std::uint64_t, std::unique_ptr<MemoryBlock>> large;  ///< free blocks by size
    std::map<MemoryBlock*, std::unique_ptr<MemoryBlock>> lent;
  };

  [[nodiscard]] Result<MemoryView> take_small(Shelf& shelf, std::uint64_t rounded, MemoryKind kind,
                                              std::string_view op);
  [[nodiscard]] Result<MemoryView> take_large(Shelf& shelf, std::uint64_t& rounded, MemoryKind kind,
                                              std::string_view op);
  [[nodiscard]] bool has_free(const Shelf& shelf, std::uint64_t rounded) const;
  [[nodiscard]] Result<std::shared_ptr<Lease>> lease_locked(std::uint64_t bytes, MemoryKind kind,
                                                            std::string_view op);
  /// Asks the device, giving cached memory back first where the budget or the device wants it.
  [[nodiscard]] Result<std::unique_ptr<MemoryBlock>> grow(std::uint64_t bytes, MemoryKind kind,
                                                          std::string_view op);
  void give_back(const Lease& lease) noexcept;
  std::uint64_t trim_locked();

  const std::shared_ptr<Backend> backend_;
  const std::uint64_t budget_;
  const std::uint64_t cache_limit_;
  const ForkGuard fork_;
  mutable std::mutex mutex_;
  Shelf shelves_[kinds];
  MemoryStats stats_;
};

using MemoryLease = MemoryPool::Lease;

}  // namespace stoker
