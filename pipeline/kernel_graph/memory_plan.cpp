#include "stoker/pipeline/kernel_graph/memory_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace stoker {
namespace {

/// Of how many places it is asked whether an item fits; then it gets one of its own behind all of them.
constexpr std::size_t most_places = 4096;

/// Whether `a` is over, in every possible execution, before `b` begins.
bool ends_before(const ArenaItem& a, const ArenaItem& b, const Ancestry& ancestry) {
  if (!ancestry.is_ancestor(a.first, b.first)) return false;
  return std::ranges::all_of(
      a.readers, [&](std::uint32_t reader) { return ancestry.is_ancestor(reader, b.first); });
}

/// The items with the same bounds, by the stages that write them. Each is over before the next begins,
/// and so before all that come after: who fits between two neighbours fits among all.
class Occupants {
 public:
  Occupants(std::span<const ArenaItem> items, const Ancestry& ancestry)
      : items_{items}, ancestry_{ancestry} {}

  [[nodiscard]] bool leave_room_for(const ArenaItem& item) const {
    const auto next = place_of(item);
    return (next == all_.begin() || ends_before(items_[*std::prev(next)], item, ancestry_)) &&
           (next == all_.end() || ends_before(item, items_[*next], ancestry_));
  }
  void add(std::size_t item) { all_.insert(place_of(items_[item]), item); }

 private:
  [[nodiscard]] std::vector<std::size_t>::const_iterator place_of(const ArenaItem& item) const {
    return std::ranges::lower_bound(all_, item.first, {},
                                    [&](std::size_t i) { return items_[i].first; });
  }

  std::span<const ArenaItem> items_;
  const Ancestry& ancestry_;
  std::vector<std::size_t> all_;
};

/// Sums of sizes stay at too_many once they are there.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) noexcept {
  return a >= ArenaPlan::too_many - std::min(b, ArenaPlan::too_many) ? ArenaPlan::too_many : a + b;
}

}  // namespace

Ancestry::Ancestry(std::span<const std::vector<std::uint32_t>> after) : rows_(after.size()) {
  const auto words_of = [](std::uint32_t stage) { return stage / 64 - first_word(stage) + 1; };
  std::size_t words = 0;
  for (std::uint32_t stage = 0; stage < after.size(); ++stage) {
    rows_[stage] = words;
    words += words_of(stage);
  }
  bits_.resize(words);
  for (std::uint32_t stage = 0; stage < after.size(); ++stage) {
    const std::size_t first = first_word(stage);
    std::uint64_t* own = bits_.data() + rows_[stage];
    for (const std::uint32_t earlier : after[stage]) {
      if (earlier / 64 < first) continue;  // and all that it knows of lies further back
      const std::size_t begin = first_word(earlier);
      const std::uint64_t* inherited = bits_.data() + rows_[earlier];
      for (std::size_t word = std::max(begin, first); word <= earlier / 64; ++word)
        own[word - first] |= inherited[word - begin];
      own[earlier / 64 - first] |= std::uint64_t{1} << (earlier % 64);
    }
  }
}

ArenaPlan plan_arena(std::span<const ArenaItem> items, const Ancestry& ancestry,
                     std::uint64_t alignment) {
  ArenaPlan plan;
  plan.offsets.resize(items.size());
  const auto rounded = [&](std::uint64_t bytes) {
    return sum_of(bytes, alignment - 1) & ~(alignment - 1);
  };

  std::vector<std::size_t> by_size(items.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::stable_sort(by_size, std::greater<>{},
                           [&](std::size_t i) { return items[i].bytes; });

  using Bounds = std::pair<std::uint64_t, std::uint64_t>;
  std::map<Bounds, Occupants> taken;  // by where they begin
  for (const std::size_t index : by_size) {
    const ArenaItem& item = items[index];
    const std::uint64_t bytes = rounded(item.bytes);
    plan.unshared_bytes = sum_of(plan.unshared_bytes, bytes);
    std::uint64_t offset = 0;
    std::size_t looked_at = 0;
    for (const auto& [bounds, occupants] : taken) {
      if (bounds.first >= sum_of(offset, bytes)) break;
      if (++looked_at > most_places) offset = plan.bytes;
      if (offset == plan.bytes) break;
      if (bounds.second > offset && !occupants.leave_room_for(item)) offset = bounds.second;
    }
    plan.offsets[index] = offset;
    const std::uint64_t end = sum_of(offset, bytes);
    plan.bytes = std::max(plan.bytes, end);
    if (plan.bytes == ArenaPlan::too_many) break;
    if (bytes > 0) taken.try_emplace(Bounds{offset, end}, items, ancestry).first->second.add(index);
  }
  return plan;
}

}  // namespace stoker
