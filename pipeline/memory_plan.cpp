#include "stoker/pipeline/memory_plan.hpp"

#include <algorithm>
#include <numeric>

namespace stoker {
namespace {

/// Whether `a` is over, in every possible execution, before `b` begins.
bool ends_before(const ArenaItem& a, const ArenaItem& b, const Ancestry& ancestry) {
  if (!ancestry.is_ancestor(a.first, b.first)) return false;
  return std::ranges::all_of(
      a.readers, [&](std::uint32_t reader) { return ancestry.is_ancestor(reader, b.first); });
}

}  // namespace

Ancestry::Ancestry(std::span<const std::vector<std::uint32_t>> after)
    : words_{(after.size() + 63) / 64}, bits_(after.size() * words_) {
  for (std::size_t stage = 0; stage < after.size(); ++stage) {
    std::uint64_t* own = bits_.data() + stage * words_;
    for (const std::uint32_t earlier : after[stage]) {
      const std::uint64_t* inherited = bits_.data() + earlier * words_;
      for (std::size_t word = 0; word < words_; ++word) own[word] |= inherited[word];
      own[earlier / 64] |= std::uint64_t{1} << (earlier % 64);
    }
  }
}

ArenaPlan plan_arena(std::span<const ArenaItem> items, const Ancestry& ancestry,
                     std::uint64_t alignment) {
  ArenaPlan plan;
  plan.offsets.resize(items.size());
  const auto rounded = [&](std::uint64_t bytes) {
    return (bytes + alignment - 1) & ~(alignment - 1);
  };

  std::vector<std::size_t> by_size(items.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::stable_sort(by_size, std::greater<>{},
                           [&](std::size_t i) { return items[i].bytes; });

  struct Range {
    std::uint64_t begin, end;
  };
  std::vector<std::size_t> placed;
  std::vector<Range> taken;
  for (const std::size_t index : by_size) {
    const ArenaItem& item = items[index];
    const std::uint64_t bytes = rounded(item.bytes);
    plan.unshared_bytes += bytes;
    taken.clear();
    for (const std::size_t other : placed) {
      if (ends_before(items[other], item, ancestry) || ends_before(item, items[other], ancestry))
        continue;
      taken.push_back({plan.offsets[other], plan.offsets[other] + rounded(items[other].bytes)});
    }
    std::ranges::sort(taken, {}, &Range::begin);
    std::uint64_t offset = 0;
    for (const Range& range : taken) {
      if (range.begin >= offset + bytes) break;
      offset = std::max(offset, range.end);
    }
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    placed.push_back(index);
  }
  return plan;
}

}  // namespace stoker
