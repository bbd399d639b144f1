// The colour spaces that convert_color knows. Conversions go through RGB in 0–1, in f32.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::kernels::convert_color {

/// The numbers are also those that shaders get.
enum class Space : std::uint8_t { rgb, bgr, hsv, hsl, ycbcr };

/// Their names, by their numbers.
[[nodiscard]] inline std::vector<std::string> space_names() {
  return {"rgb", "bgr", "hsv", "hsl", "ycbcr"};
}

/// Precondition: `name` is one of space_names().
[[nodiscard]] inline Space parse_space(std::string_view name) noexcept {
  if (name == "bgr") return Space::bgr;
  if (name == "hsv") return Space::hsv;
  if (name == "hsl") return Space::hsl;
  return name == "ycbcr" ? Space::ycbcr : Space::rgb;
}

}  // namespace stoker::kernels::convert_color
