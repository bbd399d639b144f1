#include "stoker/device/vulkan/submission/schedule.hpp"

#include <algorithm>

namespace stoker::device::vulkan {

void Schedule::plan(std::span<const Step> steps) {
  const auto count = static_cast<std::uint32_t>(steps.size());
  level_.assign(count, 0);
  first_of_level_.assign(1, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t earlier : steps[i].after)
      level_[i] = std::max(level_[i], level_[earlier] + 1);
    if (level_[i] + 1 >= first_of_level_.size()) first_of_level_.resize(level_[i] + 2, 0);
    ++first_of_level_[level_[i] + 1];
  }
  // A counting sort: sizes become offsets, and each step takes the next place of its level.
  for (std::size_t level = 1; level < first_of_level_.size(); ++level)
    first_of_level_[level] += first_of_level_[level - 1];
  order_.resize(count);
  position_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    position_[i] = first_of_level_[level_[i]]++;
    order_[position_[i]] = i;
  }
}

Stage Hazards::needed(std::span<const Stage> stages, const Schedule& schedule, Stage to,
                      std::span<const std::uint32_t> after) const noexcept {
  Stage from = Stage::none;
  for (const std::uint32_t earlier : after)
    if (schedule.position(earlier) >= seen_[index_of(stages[earlier])][index_of(to)])
      from = from | stages[earlier];
  return from;
}

void Hazards::placed(Stage from, Stage to, std::uint32_t position) noexcept {
  for (const Stage source : {Stage::compute, Stage::transfer})
    for (const Stage target : {Stage::compute, Stage::transfer})
      if (contains(from, source) && contains(to, target))
        seen_[index_of(source)][index_of(target)] = position;
}

}  // namespace stoker::device::vulkan
