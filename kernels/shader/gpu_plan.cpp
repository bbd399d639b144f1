#include "stoker/kernels/shader/gpu_plan.hpp"

#include <algorithm>

namespace stoker {

const ShaderVariant* Shader::variant(std::string_view wanted) const noexcept {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const ShaderVariant& v) { return v.name == wanted; });
  return found == variants.end() ? nullptr : &*found;
}

std::array<std::uint32_t, 3> linear_groups(std::uint64_t groups) noexcept {
  constexpr std::uint64_t most = 65535;  // the least that Vulkan guarantees for each axis
  const auto divide_up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  // Near-equal axes waste fewer groups than full ones: y rows of x, fewer than y + z of them idle.
  const std::uint64_t total = std::max<std::uint64_t>(groups, 1);
  const std::uint64_t rows = divide_up(total, most);
  const std::uint64_t z = divide_up(rows, most);
  const std::uint64_t y = divide_up(rows, z);
  const std::uint64_t x = std::min(most, divide_up(total, y * z));
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
          static_cast<std::uint32_t>(std::min(z, most))};
}

}  // namespace stoker
