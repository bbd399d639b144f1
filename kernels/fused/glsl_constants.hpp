// The constants of a fused program in GLSL: words that are passed. Drivers that see a 0, an infinity or a
// NaN may think that there are none: that x · 0 is 0, that x / 0 may be anything. So they see numbers that
// they cannot know; but integers that are divided by, which they do better knowing.
//
// Threads: any; pure functions.
#pragma once

#include <string>

#include "stoker/kernels/fused/program.hpp"
#include "stoker/kernels/scalar/glsl.hpp"

namespace stoker::kernels::fused {

using scalar::GlslNames;
using scalar::names_of;

/// An integer constant in the text.
[[nodiscard]] std::string literal(const FusedProgram::Constant& constant);

/// The first word of a constant in its compute type; one of 8 bytes has its upper half besides.
[[nodiscard]] std::uint32_t word_of(const FusedProgram::Constant& constant);
/// The constant whose words are `first` and, of 8 bytes, `second`, both of them GLSL of a uint.
[[nodiscard]] std::string from_words(DType dtype, const std::string& first,
                                     const std::string& second);

}  // namespace stoker::kernels::fused
