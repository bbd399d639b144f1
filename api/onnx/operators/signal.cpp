// Fourier transforms, windows and filter banks of sound.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/complex.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/fft.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::signal {
namespace {

/// Numbers that the host computes while a model is traced.
constexpr std::int64_t most_computed = std::int64_t{1} << 24;
/// Of a transform that is longer than its signal: its plan has tables as long, which no device has to have room for.
constexpr std::int64_t longest_padded = std::int64_t{1} << 20;

/// From [..., 1] real numbers or [..., 2] pairs.
Tensor numbers_of(const Call& call, const Tensor& x) {
  const std::int64_t parts = x.rank() == 0 ? 0 : x.shape()[x.rank() - 1];
  if (parts != 1 && parts != 2)
    call.refuse(ErrorCode::shape_mismatch,
                "the last axis must be 1 or 2, of " + x.spec().to_string());
  const Tensor wide = size_of(x.dtype()) < 4 ? as_type(x, DType::f32) : x;
  return parts == 1 ? squeeze(wide, Axes{-1}) : view_as_complex(wide);
}

Values dft(Call& call) {
  const Tensor x = numbers_of(call, call.x());
  std::int64_t axis = call.node().integer("axis", 1);
  if (call.version() >= 20) axis = call.has(2) ? call.integer(2) : -2;
  axis = axis_in(axis, call.rank());
  if (axis + 1 == call.rank()) call.refuse(ErrorCode::invalid_parameter, "the axis of the parts");
  Fft how{.axis = axis, .eps = 0};
  if (call.has(1)) {
    const std::int64_t length = call.integer(1);
    const std::int64_t given = call.shape()[static_cast<std::size_t>(axis)];
    if (length > std::max(longest_padded, given))
      call.refuse(ErrorCode::limit_exceeded, "a transform of " + std::to_string(length) +
                                                 " elements, of which the signal has " +
                                                 std::to_string(given));
    how.length = length;
  }
  const bool inverse = call.node().flag("inverse", false);
  const bool one_sided = call.node().flag("onesided", false);
  if (inverse && one_sided) return {call.like(new_axis(irfft(x, how), -1))};
  if (inverse) return {call.like(view_as_real(ifft(x, how)))};
  return {call.like(view_as_real(one_sided ? rfft(x, how) : fft(x, how)))};
}

Values stft(Call& call) {
  const Tensor x = numbers_of(call, call.x());  // [batch, length]
  const std::int64_t step = call.integer(1);
  const std::int64_t frame = call.has(3)   ? call.integer(3)
                             : call.has(2) ? call.shape(2)[0]
                                           : call.shape()[1];
  if (x.rank() != 2 || step <= 0 || frame <= 0 || frame > x.shape()[1])
    call.refuse(ErrorCode::invalid_parameter, "the frames do not fit the signal");
  const std::int64_t count = (x.shape()[1] - frame) / step + 1;
  const Tensor places =
      iota_along(Shape{count, frame}, 0) * step + iota_along(Shape{count, frame}, 1);
  Tensor frames = take(x, places, 1);
  if (call.has(2)) {
    if (call.rank(2) != 1 || call.shape(2)[0] > frame)
      call.refuse(ErrorCode::shape_mismatch, "a window that is longer than a frame");
    const std::int64_t around = frame - call.shape(2)[0];
    const Tensor window =
        pad(call.x(2), 0, {Padding{.low = around / 2, .high = around - around / 2}});
    frames = frames * window;
  }
  const bool one_sided = call.node().flag("onesided", true) && !is_complex(x.dtype());
  const Fft how{.eps = 0};
  return {call.like(view_as_real(one_sided ? rfft(frames, how) : fft(frames, how)))};
}

/// Σ (-1)^k a_k cos(2πkn/N).
void add_window(OperatorTable& table, const char* name, std::array<double, 3> a) {
  table.add({.name = name,
             .since = {17},
             .types = {.operands = {index_types},
                       .results = {first_of(NamedBy{"output_datatype"}, ElementType::f32)}},
             .attributes = {"output_datatype", "periodic"},
             .decides = {0},
             .lower = [a](Call& call) {
               const std::int64_t size = call.integer(0);
               if (size < 0 || size > most_computed)
                 call.refuse(ErrorCode::invalid_parameter, "a size of " + std::to_string(size));
               const ElementType type =
                   call.node().element_type("output_datatype", ElementType::f32);
               const bool periodic = call.node().flag("periodic", true);
               const double period = static_cast<double>(periodic ? size : size - 1);
               std::vector<double> numbers;
               for (std::int64_t n = 0; n < size; ++n) {
                 const double angle =
                     period == 0 ? 0 : 2 * std::numbers::pi * static_cast<double>(n) / period;
                 numbers.push_back(a[0] - a[1] * std::cos(angle) + a[2] * std::cos(2 * angle));
               }
               return Values{Known::reals(numbers, Shape{size}, type)};
             }});
}

/// Triangles that are equally wide in mel, 2595·log10(1 + f/700).
Values mel_weight_matrix(Call& call) {
  const std::int64_t bands = call.integer(0);
  const std::int64_t length = call.integer(1);
  const std::int64_t rate = call.integer(2);
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  const double low = mel(call.real(3));
  const double high = mel(call.real(4));
  if (bands < 0 || length < 0 || rate <= 0 || length > most_computed ||
      bands > most_computed / (length / 2 + 1))
    call.refuse(ErrorCode::invalid_parameter, "a size is negative");
  const std::int64_t bins = length / 2 + 1;
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
    const double frequency = 700 * (std::pow(10, at / 2595) - 1);
    const double edge =
        std::floor(static_cast<double>(length + 1) * frequency / static_cast<double>(rate));
    if (!(edge >= 0 && edge <= static_cast<double>(bins)))
      call.refuse(ErrorCode::invalid_parameter, "an edge lies outside of the spectrum");
    edges.push_back(static_cast<std::int64_t>(edge));
  }
  std::vector<double> weights(static_cast<std::size_t>(bins * bands));
  const auto weight = [&](std::int64_t bin, std::int64_t band) -> double& {
    return weights[static_cast<std::size_t>(bin * bands + band)];
  };
  for (std::int64_t band = 0; band < bands; ++band) {
    const auto at = static_cast<std::size_t>(band);
    const std::int64_t lower = edges[at];
    const std::int64_t center = edges[at + 1];
    const std::int64_t upper = edges[at + 2];
    if (center == lower && center < bins) weight(center, band) = 1;
    for (std::int64_t bin = lower; bin <= center && bin < bins && center > lower; ++bin)
      weight(bin, band) = static_cast<double>(bin - lower) / static_cast<double>(center - lower);
    for (std::int64_t bin = center; bin < upper && bin < bins; ++bin)
      weight(bin, band) = static_cast<double>(upper - bin) / static_cast<double>(upper - center);
  }
  const ElementType type = call.node().element_type("output_datatype", ElementType::f32);
  return {Known::reals(weights, Shape{bins, bands}, type)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "DFT",
             .since = {17, 20},
             .most_inputs = 3,
             .types = indexed(float_types),
             .attributes = {"axis", "inverse", "onesided"},
             .decides = {1, 2},
             .lower = &dft});
  table.add({.name = "STFT",
             .since = {17},
             .least_inputs = 2,
             .most_inputs = 4,
             .types = {.operands = {float_types, index_types, like(0), index_types},
                       .results = {like(0)}},
             .attributes = {"onesided"},
             .decides = {1, 3},
             .lower = &stft});
  add_window(table, "HannWindow", {0.5, 0.5, 0});
  add_window(table, "HammingWindow", {25.0 / 46, 21.0 / 46, 0});
  add_window(table, "BlackmanWindow", {0.42, 0.5, 0.08});
  table.add({.name = "MelWeightMatrix",
             .since = {17},
             .least_inputs = 5,
             .most_inputs = 5,
             .types = {.operands = {index_types, index_types, index_types, float_types},
                       .results = {first_of(NamedBy{"output_datatype"}, ElementType::f32)}},
             .attributes = {"output_datatype"},
             .decides = {0, 1, 2, 3, 4},
             .lower = &mel_weight_matrix});
}

}  // namespace stoker::onnx::operators::signal
