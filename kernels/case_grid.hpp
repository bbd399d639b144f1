// Building blocks of kernels' sample cases: awkward shapes, and the arithmetic of error bounds.
// Used by cases.cpp files only.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "stoker/kernels/cases.hpp"

namespace stoker::cases {

struct NamedShape {
  std::string label;
  Shape shape;
};

/// Shapes that find off-by-one mistakes: none, one and few elements, primes, remainders of vectors
/// and groups, and the highest rank.
[[nodiscard]] inline std::vector<NamedShape> awkward_shapes() {
  return {{"scalar", Shape{}},
          {"empty", Shape{0}},
          {"empty_inside", Shape{3, 0, 2}},
          {"one", Shape{1}},
          {"three", Shape{3}},
          {"primes", Shape{7, 13, 31}},
          {"prime_row", Shape{127}},
          {"past_a_group", Shape{257}},
          {"past_many_blocks", Shape{4099}},
          {"even_blocks", Shape{16, 1024}},
          {"rank_8", Shape{2, 1, 3, 2, 1, 2, 3, 2}}};
}

/// For an operation whose shaders are those of another one of its family but for one macro: a software GPU,
/// which takes a third of a second to compile each, runs it in its quick run with the dtypes of `seen` only.
/// Unless told otherwise, these are one of each way to load and compute.
inline void leave_to_sibling(std::vector<KernelCase>& cases,
                             std::initializer_list<DType> seen = {DType::f32, DType::f16,
                                                                  DType::s64, DType::u8}) {
  for (KernelCase& one : cases)
    if (std::ranges::find(seen, one.inputs.front().dtype) == seen.end()) one.heavy = true;
}

/// Half a unit in the last place relative to the value: the error of one correct rounding to a
/// float dtype. 0 for integers and bool.
[[nodiscard]] inline double rounding(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-53;
    case DType::f32: return 0x1p-24;
    case DType::f16: return 0x1p-11;
    case DType::bf16: return 0x1p-8;
    default: return 0;
  }
}

/// The same for the type that arithmetic on `dtype` happens in: f32 for the 16-bit floats.
[[nodiscard]] inline double compute_rounding(DType dtype) {
  return dtype == DType::f64 ? rounding(DType::f64) : is_float(dtype) ? rounding(DType::f32) : 0;
}

/// What flushing a subnormal result to 0 may cost; devices may flush f32, and f16 has few steps
/// there.
[[nodiscard]] inline double subnormal(DType dtype) {
  switch (dtype) {
    case DType::f64: return std::numeric_limits<double>::min();
    case DType::f32:
    case DType::bf16: return static_cast<double>(std::numeric_limits<float>::min());
    case DType::f16: return 0x1p-14;
    default: return 0;
  }
}

/// `exact`, a whole number below 2^53, in the two's complement of an integer dtype of up to 32
/// bits; other dtypes unchanged.
[[nodiscard]] inline double wrapped(double exact, DType dtype) {
  if (!is_integer(dtype) || size_of(dtype) > 4) return exact;
  const double modulus = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)));
  double value = std::fmod(exact, modulus);
  if (value < 0) value += modulus;
  return is_signed(dtype) && value >= modulus / 2 ? value - modulus : value;
}

}  // namespace stoker::cases
