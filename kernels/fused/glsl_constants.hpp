// The constants of a fused program in GLSL: as literals in the text, or as words that are passed.
//
// Threads: any; pure functions.
#pragma once

#include <string>

#include "stoker/kernels/fused/program.hpp"

namespace stoker::kernels::fused {

struct GlslNames {
  const char* scalar;
  const char* four;
};

/// The compute types of kernels/preamble.hpp.
[[nodiscard]] GlslNames names_of(DType dtype) noexcept;

/// The constant in the text. It may call `uint fused_zero()`, which gives a 0 that no driver knows.
[[nodiscard]] std::string literal(const FusedProgram::Constant& constant);

/// The first word of a constant in its compute type; one of 8 bytes has its upper half besides.
[[nodiscard]] std::uint32_t word_of(const FusedProgram::Constant& constant);
/// The constant whose words are `first` and, of 8 bytes, `second`, both of them GLSL of a uint.
[[nodiscard]] std::string from_words(DType dtype, const std::string& first,
                                     const std::string& second);

}  // namespace stoker::kernels::fused
