// Host rules for small known operands, as in shape arithmetic.
//
// Pure functions; any thread.
#pragma once

#include <cmath>

#include "stoker/api/onnx/core/operator.hpp"

namespace stoker::onnx {

/// For each element of `to`, row-major, the position of its element in `from`, which broadcasts to it.
[[nodiscard]] std::vector<std::int64_t> broadcast_positions(const Shape& from, const Shape& to);
/// The shape that all operands of the call broadcast to. Throws shape_mismatch.
[[nodiscard]] Shape broadcast_shape(const Call& call);
/// Whether a host rule should compute a result of this shape: shape arithmetic is small, and larger results are left
/// to the device.
[[nodiscard]] bool is_small(const Shape& shape) noexcept;
/// Bounds the host memory that a rule takes while a model is traced, whatever the file says. Throws
/// limit_exceeded for more than 2^26 numbers.
void check_host_count(const Call& call, std::int64_t count);
/// Whether host arithmetic gives the same results as a device: s8 to s64, u8 to u32, booleans, f32,
/// f64.
[[nodiscard]] bool has_host_arithmetic(ElementType type) noexcept;

/// f(a, b) element by element, of std::int64_t or double; the result has the type of the operands, or `result`.
template <class F>
std::optional<Values> binary_on_host(Call& call, const F& f,
                                     ElementType result = ElementType::undefined) {
  const Known a = call.input(0).known();
  const Known b = call.input(1).known();
  if (!has_host_arithmetic(a.type()) || a.type() != b.type()) return {};
  const Shape shape = broadcast_shape(call);
  if (!is_small(shape)) return {};
  const auto at_a = broadcast_positions(a.shape(), shape);
  const auto at_b = broadcast_positions(b.shape(), shape);
  if (result == ElementType::undefined) result = a.type();
  const auto all = [&](const auto& of_a, const auto& of_b, auto& made) {
    for (std::size_t i = 0; i < at_a.size(); ++i)
      made.push_back(
          f(of_a[static_cast<std::size_t>(at_a[i])], of_b[static_cast<std::size_t>(at_b[i])]));
  };
  const bool gives_integers = result != ElementType::f32 && result != ElementType::f64;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  if (a.holds_integers()) {
    all(a.to_integers(), b.to_integers(), integers);
  } else if (gives_integers) {
    all(a.to_reals(), b.to_reals(), integers);
  } else {
    all(a.to_reals(), b.to_reals(), reals);
  }
  if (gives_integers) return Values{Known::integers(integers, shape, result)};
  return Values{Known::reals(reals, shape, result)};
}

/// f(a) element by element.
template <class F> std::optional<Values> unary_on_host(Call& call, const F& f) {
  const Known a = call.input(0).known();
  if (!has_host_arithmetic(a.type())) return {};
  if (a.holds_integers()) {
    std::vector<std::int64_t> made = a.to_integers();
    for (std::int64_t& one : made) one = static_cast<std::int64_t>(f(one));
    return Values{Known::integers(made, a.shape(), a.type())};
  }
  std::vector<double> made = a.to_reals();
  for (double& one : made) one = static_cast<double>(f(one));
  return Values{Known::reals(made, a.shape(), a.type())};
}

}  // namespace stoker::onnx
