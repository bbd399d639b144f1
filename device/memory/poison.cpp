#include "stoker/device/memory/poison.hpp"

#include <algorithm>
#include <utility>

namespace stoker {
namespace {

constexpr std::size_t most = 16;

}  // namespace

void Poison::add(Entry entry) noexcept {
  // Settling is nearly in order; a cancelled command may be early, an overwriter never late.
  const auto place = [&] {
    return std::ranges::upper_bound(entries_, entry.sequence, {}, &Entry::sequence);
  };
  try {
    if (entries_.size() < most) {
      entries_.insert(place(), entry);
      return;
    }
  } catch (...) {  // no memory for more
  }
  entries_.erase(entries_.begin() + 1);
  entries_.insert(place(), std::move(entry));
}

void Poison::overwritten(std::uint64_t sequence) noexcept {
  const auto kept = std::ranges::lower_bound(entries_, sequence, {}, &Entry::sequence);
  entries_.erase(entries_.begin(), kept);
}

const Error* Poison::hand_on(std::uint64_t sequence) const noexcept {
  if (empty() || entries_.front().sequence >= sequence) return nullptr;
  for (const Entry& entry : entries_)
    if (entry.sequence < sequence) entry.writer->observe();
  return &entries_.front().cause;
}

}  // namespace stoker
