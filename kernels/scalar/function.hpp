// The scalar functions: what one element becomes, on every device. The kernels of single elements
// (kernels/elementwise) and those that are put together at run time (kernels/fused) are made of them.
//
// A family of functions is two files of this folder:
//     <family>.cpp      names, summaries, type rules, GLSL and a double-precision reference
//     <family>_cpu.cpp  the CPU loops, compiled once per instruction set (loops.hpp)
// and a line in each of the lists of families, function.cpp and loops_cpu.cpp.
//
// Constant data: any thread, at any time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stoker/runtime/base/dtype.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker {

/// Which dtypes operands may have. All operands have one dtype, a condition excepted.
enum class ScalarOperands : std::uint8_t { any, numeric, floats, integers };
/// The result's dtype: the operands', u8 (0 or 1), or whatever the instruction says (cast).
enum class ScalarResult : std::uint8_t { same, truth, free };

/// How GLSL computes it. In every text `$T` stands for the operands' compute type
/// (kernels/shader/preamble.hpp) and `$R` for the result's; in `expression` `$0`, `$1` and `$2`
/// stand for operands, which are names. Texts are placed before main, once each, in this order.
struct ScalarGlsl {
  std::string_view expression = {};  ///< empty: no GPU version for this dtype
  std::array<std::string_view, 3> texts = {};
};

struct ScalarFunction {
  std::string_view name;
  std::string_view summary;  ///< of operands a, b and c, for listings
  std::uint8_t arity = 1;    ///< 1 to 3
  ScalarOperands takes = ScalarOperands::numeric;
  ScalarResult result = ScalarResult::same;
  /// Operand 0 is u8 or bool whatever the others are, and not 0 means true (select).
  bool condition = false;
  /// The result needs no rounding to f16 or bf16 where the operands are of that dtype.
  bool closed = false;
  /// Error on the CPU in f32, in units in the last place; 0: correctly rounded. The 16-bit floats
  /// are computed as f32 and rounded once more; f64 is libm's.
  double ulps = 0;
  /// A guess of nanoseconds for an f32 element on one thread, memory aside.
  double cost_ns = 0.08;
  ScalarGlsl (*glsl)(DType operand, DType result) = nullptr;
  /// The exact result, which for integers is then taken modulo their width. `dtype` is that of the
  /// operands. For tests.
  double (*reference)(const double* operands, DType dtype) = nullptr;
};

/// The function of that name; unknown names give not_found with the nearest one in `details`.
/// Lives as long as the process.
[[nodiscard]] Result<const ScalarFunction*> find_scalar_function(std::string_view name);
/// All of them, ordered by family.
[[nodiscard]] std::span<const ScalarFunction* const> scalar_functions();

/// Whether its operands may be of that dtype; a condition has its own.
[[nodiscard]] bool takes(const ScalarFunction& function, DType dtype) noexcept;

/// The dtype of `function` of operands with these dtypes, or why they do not fit: arity_mismatch,
/// dtype_mismatch. `wanted` is the dtype of a cast and ignored by others.
[[nodiscard]] Result<DType> scalar_result(const ScalarFunction& function,
                                          std::span<const DType> operands, DType wanted);

/// The dtype that selects the loop and the GLSL: the last operand's.
[[nodiscard]] inline DType main_operand(std::span<const DType> operands) noexcept {
  return operands.back();
}

}  // namespace stoker
