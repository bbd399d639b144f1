// Vectors and matrices written as text: rows in lines, numbers apart by spaces or commas.
//
//     Tensor m = matrix_of("1 2.5\n-3 Inf");
//     Tensor v = "1 2 3"_vec;                     // using namespace stoker::literals
//
// Numbers are decimal, or Inf, Infinity and NaN with a sign or without, in any case. Integers alone are
// s32, with a fraction, an exponent, Inf or NaN among them f32, unless a dtype is named.
//
// Threads: any. Errors are thrown: invalid_argument for what is no number and for integers that their
// dtype cannot hold, shape_mismatch for rows of different lengths.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// One axis; all lines count as one.
[[nodiscard]] Tensor vector_of(std::string_view text, std::optional<DType> dtype = {});
/// Two axes; empty lines are left out.
[[nodiscard]] Tensor matrix_of(std::string_view text, std::optional<DType> dtype = {});

namespace literals {
[[nodiscard]] inline Tensor operator""_vec(const char* text, std::size_t length) {
  return vector_of({text, length});
}
[[nodiscard]] inline Tensor operator""_mat(const char* text, std::size_t length) {
  return matrix_of({text, length});
}
}  // namespace literals

}  // namespace stoker
