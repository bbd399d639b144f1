#include "stoker/device/memory/memory_pool.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "stoker/runtime/base/spin_then_lock.hpp"

namespace stoker {
namespace {

constexpr std::uint64_t smallest = 256;  // also the alignment of every piece
constexpr std::uint64_t slab_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t first_slab_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t largest_step = std::uint64_t{1} << 20;  // rounding never costs more

/// Four classes per octave: at most a fifth of a piece is lost to rounding. With few classes a
/// program of many sizes soon owns a block of each it needs, and stops growing.
std::uint64_t round_up(std::uint64_t bytes) {
  if (bytes <= smallest) return smallest;
  const std::uint64_t step = std::clamp(std::bit_floor(bytes - 1) / 4, smallest, largest_step);
  return (bytes + step - 1) / step * step;
}

/// A free block is worth lending although it is larger than asked for.
bool fits(std::uint64_t block, std::uint64_t wanted) { return block <= wanted + wanted / 2; }

}  // namespace

MemoryPool::Lease::Lease(std::shared_ptr<MemoryPool> pool, MemoryView view,
                         std::uint64_t rounded) noexcept
    : pool_{std::move(pool)}, view_{view}, rounded_{rounded} {}

MemoryPool::Lease::~Lease() {
  if (pool_) pool_->give_back(*this);
}

MemoryPool::MemoryPool(std::shared_ptr<Backend> backend, Options options)
    : backend_{std::move(backend)},
      budget_{options.budget ? options.budget : backend_->info().memory_bytes / 8 * 7},
      cache_limit_{options.cache_limit ? options.cache_limit : budget_ / 4} {
  stats_.budget = budget_;
}

Result<void> MemoryPool::check(std::uint64_t bytes, std::string_view op) const {
  const std::uint64_t limit = backend_->info().limits.max_allocation;
  if (bytes <= std::min(limit, budget_)) return {};
  const bool too_long = bytes > limit;
  return Error{
      std::string{op},
      ErrorCode::limit_exceeded,
      too_long ? "larger than one buffer may be on this device" : "larger than the memory budget",
      {{"requested", std::to_string(bytes)},
       {"limit", std::to_string(too_long ? limit : budget_)},
       {"which_limit", too_long ? "max_allocation" : "budget"},
       {"in_use", std::to_string(stats().in_use)},
       {"device", backend_->info().name}}};
}

Result<std::shared_ptr<MemoryLease>> MemoryPool::lease(std::uint64_t bytes, MemoryKind kind,
                                                       std::string_view op) {
  STOKER_TRY(check(bytes, op));
  const auto lock = spin_then_lock(mutex_);
  return lease_locked(bytes, kind, op);
}

std::shared_ptr<MemoryLease> MemoryPool::lease_free(std::uint64_t bytes, MemoryKind kind) {
  if (bytes > backend_->info().limits.max_allocation) return nullptr;
  const auto lock = spin_then_lock(mutex_);
  if (!has_free(shelves_[static_cast<std::size_t>(kind)], round_up(bytes))) return nullptr;
  auto found = lease_locked(bytes, kind, "lease");
  return found ? *std::move(found) : nullptr;
}

bool MemoryPool::has_free(const Shelf& shelf, std::uint64_t rounded) const {
  if (rounded < large_bytes) {
    const auto size_class = shelf.small.find(rounded);
    return size_class != shelf.small.end() && !size_class->second.open.empty();
  }
  const auto fit = shelf.large.lower_bound(rounded);
  return fit != shelf.large.end() && fits(fit->first, rounded);
}

Result<std::shared_ptr<MemoryLease>> MemoryPool::lease_locked(std::uint64_t bytes, MemoryKind kind,
                                                              std::string_view op) {
  Shelf& shelf = shelves_[static_cast<std::size_t>(kind)];
  const std::uint64_t limit = backend_->info().limits.max_allocation;
  std::uint64_t rounded = std::min(round_up(bytes), std::max(limit, bytes));
  // First, because a piece that was taken must not be lost for want of the memory to lend it.
  auto result = std::make_shared<Lease>(nullptr, MemoryView{}, 0);
  auto taken = bytes < large_bytes ? take_small(shelf, rounded, kind, op)
                                   : take_large(shelf, rounded, kind, op);
  if (!taken) return taken.error();
  result->pool_ = shared_from_this();
  result->view_ = *taken;
  result->view_.bytes = bytes;
  result->rounded_ = rounded;
  stats_.in_use += rounded;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  ++stats_.leases;
  return result;
}

Result<MemoryView> MemoryPool::take_small(Shelf& shelf, std::uint64_t rounded, MemoryKind kind,
                                          std::string_view op) {
  SizeClass& size_class = shelf.small[rounded];
  if (size_class.open.empty()) {
    // A class starts with a small slab, so that ten scalars do not hold ten times two megabytes.
    const std::uint64_t wanted =
        size_class.slabs.empty() ? std::max(rounded, first_slab_bytes) : slab_bytes;
    const std::uint64_t pieces = std::max<std::uint64_t>(1, wanted / rounded);
    // Room for every slab, so that one can be noted without memory, also by who gives a piece back.
    if (size_class.open.capacity() <= size_class.slabs.size())
      size_class.open.reserve(2 * size_class.slabs.size() + 1);
    STOKER_ASSIGN(auto block, grow(pieces * rounded, kind, op));
    MemoryBlock* key = block.get();
    Slab slab{std::move(block), {}, static_cast<std::uint32_t>(pieces)};
    for (std::uint32_t i = slab.pieces; i-- > 0;) slab.free.push_back(i);
    size_class.slabs.emplace(key, std::move(slab));
    size_class.open.push_back(key);
    stats_.cached += pieces * rounded;
  } else {
    ++stats_.reuses;
  }
  MemoryBlock* block = size_class.open.back();
  Slab& slab = size_class.slabs.at(block);
  const std::uint32_t piece = slab.free.back();
  slab.free.pop_back();
  if (slab.free.empty()) size_class.open.pop_back();
  stats_.cached -= rounded;
  return MemoryView{block, piece * rounded, rounded};
}

Result<MemoryView> MemoryPool::take_large(Shelf& shelf, std::uint64_t& rounded, MemoryKind kind,
                                          std::string_view op) {
  const auto fit = shelf.large.lower_bound(rounded);
  std::unique_ptr<MemoryBlock> block;
  if (fit != shelf.large.end() && fits(fit->first, rounded)) {
    block = std::move(fit->second);
    rounded = fit->first;
    shelf.large.erase(fit);
    stats_.cached -= rounded;
    ++stats_.reuses;
  } else {
    STOKER_ASSIGN(block, grow(rounded, kind, op));
  }
  MemoryBlock* key = block.get();
  shelf.lent.emplace(key, std::move(block));
  return MemoryView{key, 0, rounded};
}

Result<std::unique_ptr<MemoryBlock>> MemoryPool::grow(std::uint64_t bytes, MemoryKind kind,
                                                      std::string_view op) {
  const auto refusal = [&](std::string reason) {
    return Error{std::string{op},
                 ErrorCode::out_of_memory,
                 std::move(reason),
                 {{"requested", std::to_string(bytes)},
                  {"limit", std::to_string(budget_)},
                  {"in_use", std::to_string(stats_.in_use)},
                  {"device", backend_->info().name}}};
  };
  if (stats_.in_use + stats_.cached + bytes > budget_) trim_locked();
  if (stats_.in_use + stats_.cached + bytes > budget_)
    return refusal("the memory budget is used up");
  auto block = backend_->allocate(bytes, kind);
  if (!block && block.error().code() == ErrorCode::out_of_memory && trim_locked() > 0)
    block = backend_->allocate(bytes, kind);
  if (!block && block.error().code() == ErrorCode::out_of_memory)
    return refusal(std::string{block.error().reason()});
  if (block) ++stats_.allocations;
  return block;
}

void MemoryPool::give_back(const Lease& lease) noexcept {
  if (fork_.forked()) return;  // a thread of the parent may hold the lock for ever
  const auto lock = spin_then_lock(mutex_);
  MemoryBlock* block = lease.view_.block;
  Shelf& shelf = shelves_[static_cast<std::size_t>(block->kind)];
  stats_.in_use -= lease.rounded_;
  --stats_.leases;
  if (const auto lent = shelf.lent.find(block); lent != shelf.lent.end()) {
    if (stats_.cached + lease.rounded_ <= cache_limit_) try {
        shelf.large.emplace(lease.rounded_, std::move(lent->second));
        stats_.cached += lease.rounded_;
      } catch (const std::bad_alloc&) {  // not kept, then
      }
    shelf.lent.erase(lent);
    return;
  }
  SizeClass& size_class = shelf.small.at(lease.rounded_);
  Slab& slab = size_class.slabs.at(block);
  if (slab.free.empty()) size_class.open.push_back(block);
  slab.free.push_back(static_cast<std::uint32_t>(lease.view_.offset / lease.rounded_));
  stats_.cached += lease.rounded_;
}

MemoryStats MemoryPool::stats() const {
  const auto lock = spin_then_lock(mutex_);
  return stats_;
}

std::uint64_t MemoryPool::trim() {
  const auto lock = spin_then_lock(mutex_);
  return trim_locked();
}

std::uint64_t MemoryPool::trim_locked() {
  std::uint64_t freed = 0;
  for (Shelf& shelf : shelves_) {
    for (const auto& [bytes, block] : shelf.large) freed += bytes;
    shelf.large.clear();
    for (auto& [bytes, size_class] : shelf.small) {
      // clang before 16 lets no lambda capture these names themselves.
      std::erase_if(size_class.slabs,
                    [&, bytes = bytes, &open = size_class.open](const auto& entry) {
                      const Slab& slab = entry.second;
                      if (slab.free.size() != slab.pieces) return false;
                      freed += slab.pieces * bytes;
                      std::erase(open, entry.first);
                      return true;
                    });
    }
  }
  stats_.cached -= freed;
  return freed;
}

}  // namespace stoker
