// The families of scalar functions, each defined in the file of its name; see function.hpp.
#pragma once

#include "stoker/kernels/scalar/function.hpp"

namespace stoker::kernels::scalar {

[[nodiscard]] std::span<const ScalarFunction> arithmetic() noexcept;
[[nodiscard]] std::span<const ScalarFunction> comparison() noexcept;
[[nodiscard]] std::span<const ScalarFunction> logic() noexcept;
[[nodiscard]] std::span<const ScalarFunction> bits() noexcept;
[[nodiscard]] std::span<const ScalarFunction> exponential() noexcept;
[[nodiscard]] std::span<const ScalarFunction> trigonometric() noexcept;
[[nodiscard]] std::span<const ScalarFunction> error_function() noexcept;
[[nodiscard]] std::span<const ScalarFunction> conversion() noexcept;

struct Family {
  std::string_view name;
  std::span<const ScalarFunction> functions;
};
/// All of them.
[[nodiscard]] std::span<const Family> families() noexcept;

/// `text` for every float dtype but f64, where GPUs have roots and quotients only.
[[nodiscard]] inline ScalarGlsl unless_f64(DType operand, ScalarGlsl glsl) noexcept {
  return operand == DType::f64 ? ScalarGlsl{} : glsl;
}

/// The series that the CPU loops and the shaders share, as GLSL; see common.inc. Only the
/// preprocessor turns a file into a text.
#define STOKER_SERIES(...) #__VA_ARGS__
inline constexpr std::string_view common_text =
#include "stoker/kernels/scalar/common.inc"
    ;
inline constexpr std::string_view exponential_text =
#include "stoker/kernels/scalar/exponential.inc"
    ;
inline constexpr std::string_view trigonometric_text =
#include "stoker/kernels/scalar/trigonometric.inc"
    ;
inline constexpr std::string_view error_function_text =
#include "stoker/kernels/scalar/error_function.inc"
    ;
#undef STOKER_SERIES

}  // namespace stoker::kernels::scalar
