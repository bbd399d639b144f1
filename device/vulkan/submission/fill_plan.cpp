#include "stoker/device/vulkan/submission/fill_plan.hpp"

#include <algorithm>
#include <cstring>

namespace stoker::device::vulkan {

FillPlan plan_fill(std::span<const std::byte> pattern, std::uint64_t offset,
                   std::uint64_t bytes) noexcept {
  FillPlan plan;
  const bool one_word =
      pattern.size() <= 4 || std::equal(pattern.begin(), pattern.begin() + 4, pattern.begin() + 4);
  if (!one_word) {
    plan.by_doubling = true;
    return plan;
  }
  plan.head = std::min<std::uint64_t>((4 - offset % 4) % 4, bytes);
  plan.words = (bytes - plan.head) / 4 * 4;
  plan.tail = bytes - plan.head - plan.words;
  std::array<std::byte, 4> word{};
  repeat_pattern(pattern, plan.head, word);
  std::memcpy(&plan.word, word.data(), word.size());
  return plan;
}

void repeat_pattern(std::span<const std::byte> pattern, std::uint64_t phase,
                    std::span<std::byte> out) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = pattern[(phase + i) % pattern.size()];
}

}  // namespace stoker::device::vulkan
