// Parses vectors and matrices from text: one row per line, numbers separated by spaces or commas.
//
//     Tensor m = matrix_of("1 2.5\n-3 Inf");
//     Tensor v = "1 2 3"_vec;                     // using namespace stoker::literals
//
// Numbers are decimal, or Inf, Infinity and NaN in any case; all may have a sign. Unless a dtype is
// given, the result is s32 if all are integers, else f32.
//
// Threads: any. Errors are thrown: invalid_argument for text that is not a number and for integers
// that their dtype cannot hold, shape_mismatch for rows of different lengths.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// A tensor with one axis; line breaks separate numbers like spaces.
[[nodiscard]] Tensor vector_of(std::string_view text, std::optional<DType> dtype = {});
/// A tensor with two axes; empty lines are ignored.
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
