#include "stoker/pipeline/script/lua/failures.hpp"

#include <algorithm>
#include <utility>

namespace stoker::script {

std::optional<Error> Failures::take_untold() {
  if (overlooked_) return std::exchange(overlooked_, std::nullopt);
  const auto untold = std::ranges::find(entries_, false, &Entry::told);
  if (untold == entries_.end()) return std::nullopt;
  untold->told = true;
  return untold->error;
}

Failures::Entry& Failures::entry(const Error& failure) {
  const auto known = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.error.what() == failure.what(); });
  if (known != entries_.end()) return *known;
  if (entries_.size() == most) {
    const Entry& oldest = entries_.front();
    if (!oldest.told && !overlooked_) overlooked_ = oldest.error;
    entries_.pop_front();
  }
  return entries_.emplace_back(failure);
}

}  // namespace stoker::script
