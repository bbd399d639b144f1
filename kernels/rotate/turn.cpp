#include "stoker/kernels/rotate/turn.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>

#include "stoker/kernels/rotate/options.hpp"

namespace stoker::kernels::rotate {
namespace {

constexpr std::int64_t one = std::int64_t{1} << 30;  // of cosine and sine

/// The cosine and sine of `angle` in degrees; whole for multiples of 90.
std::pair<std::int64_t, std::int64_t> direction(double angle) {
  const double reduced = std::fmod(angle, 360.0);
  const double quarters = std::round(reduced / 90.0);
  const double rest = (reduced - 90.0 * quarters) * std::numbers::pi / 180.0;
  std::int64_t cosine = std::llround(std::cos(rest) * static_cast<double>(one));
  std::int64_t sine = std::llround(std::sin(rest) * static_cast<double>(one));
  for (int turns = (static_cast<int>(quarters) + 4) % 4; turns > 0; --turns)
    cosine = -std::exchange(sine, cosine);
  return {cosine, sine};
}

/// The pixels that a side needs for what lies along it of two sides of the input. A thousandth of a
/// pixel needs none of its own.
std::int64_t side(std::int64_t a, std::int64_t cosine, std::int64_t b, std::int64_t sine) {
  const std::int64_t length = a * std::abs(cosine) + b * std::abs(sine);
  return std::max<std::int64_t>(1, (length + one - 1 - one / 1024) / one);
}

Result<void> check_sides(const image::Extent& image, const KernelCall& call) {
  if (image.height <= max_side && image.width <= max_side) return {};
  return Error{"rotate",
               ErrorCode::limit_exceeded,
               "more than " + std::to_string(max_side) + " pixels a side",
               {{"limit", std::to_string(max_side)}, {"input", call.inputs[0].to_string()}}};
}

}  // namespace

Result<Turn> turn(const KernelCall& call) {
  Turn all;
  all.in = image::extent(call.shape());
  all.out = all.in;
  if (all.in.elements() == 0) return all;
  STOKER_TRY(check_sides(all.in, call));
  const auto given = options::from<Rotate>(call.params);
  std::tie(all.cosine, all.sine) = direction(given.angle);
  if (given.expand) {
    all.out.width = side(all.in.width, all.cosine, all.in.height, all.sine);
    all.out.height = side(all.in.width, all.sine, all.in.height, all.cosine);
    STOKER_TRY(check_sides(all.out, call));
  }
  // From the middle of the output to its first pixel, and from the first pixel of the input to its
  // middle, in halves of pixels.
  const std::int64_t u = -(all.out.width - 1);
  const std::int64_t v = -(all.out.height - 1);
  all.x_start = all.cosine * u - all.sine * v + (all.in.width - 1) * one;
  all.y_start = all.sine * u + all.cosine * v + (all.in.height - 1) * one;
  const bool straight = all.cosine == 0 || all.sine == 0;
  const bool whole = all.x_start % pixel_steps == 0 && all.y_start % pixel_steps == 0;
  all.nearest = given.mode == RotateMode::nearest || (straight && whole);
  const double white = call.dtype() == DType::u8 ? 255.0 : 1.0;
  const double background = white * given.background;
  all.background = static_cast<float>(call.dtype() == DType::u8 ? std::clamp(background, 0.0, 255.0)
                                                                : background);
  return all;
}

}  // namespace stoker::kernels::rotate
