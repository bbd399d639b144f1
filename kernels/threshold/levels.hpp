// What threshold writes on either side of its value, in the values of a dtype.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/threshold/options.hpp"

namespace stoker::kernels::threshold {

/// y = x > cut ? (keeps_above ? x : above) : (keeps_below ? x : below).
struct Levels {
  float cut = 0;
  float above = 0;
  float below = 0;
  bool keeps_above = false;
  bool keeps_below = false;
};

/// The levels of a call. Those of u8 are whole, and the cut lies in 0–255.
[[nodiscard]] inline Levels levels(const KernelCall& call) {
  const bool bytes = call.dtype() == DType::u8;
  const auto given = options::from<Threshold>(call.params);
  const auto level = [&](double value) {
    if (!bytes) return static_cast<float>(value);
    return static_cast<float>(std::clamp(std::floor(255.0 * value + 0.5), 0.0, 255.0));
  };
  using Mode = ThresholdMode;
  const Mode mode = given.mode;
  Levels all{static_cast<float>(given.value), level(given.above), level(given.below)};
  if (mode == Mode::binary_inv) std::swap(all.above, all.below);
  if (mode == Mode::trunc) all.above = level(given.value);
  if (mode == Mode::to_zero) all.below = 0;
  if (mode == Mode::to_zero_inv) all.above = 0;
  all.keeps_above = mode == Mode::to_zero;
  all.keeps_below = mode == Mode::trunc || mode == Mode::to_zero_inv;
  if (!bytes) return all;
  // Bytes are above the value just where they are above the whole number before it. A product that
  // should be whole may come out a little less.
  const double cut = std::floor(255.0 * given.value + 1e-9);
  all.cut = static_cast<float>(std::clamp(cut, 0.0, 255.0));
  if (cut < 0) {
    all.below = all.above;
    all.keeps_below = all.keeps_above;
  }
  return all;
}

}  // namespace stoker::kernels::threshold
