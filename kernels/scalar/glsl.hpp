// The texts of ScalarGlsl in the words of a shader.
//
// Threads: any; pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/runtime/base/dtype.hpp"

namespace stoker::kernels::scalar {

/// What the texts of ScalarFunction need before them in GLSL; series.hpp has the same for C++.
inline constexpr std::string_view series_definitions =
    "#define STOKER_PRECISE precise\n"
    "#define STOKER_SELECTS_LOSE_NAN true\n";

struct GlslNames {
  const char* scalar;
  const char* four;
};

/// The compute types of kernels/shader/preamble.hpp.
[[nodiscard]] GlslNames names_of(DType dtype) noexcept;

/// `text` with `$T` and `$R` replaced by the compute types of `operand` and `result`, and `$0` to `$2` by
/// the names of the operands.
[[nodiscard]] std::string filled(std::string_view text, DType operand, DType result,
                                 std::span<const std::string> operands = {});

}  // namespace stoker::kernels::scalar
