#include "exclusions.hpp"

#include <algorithm>
#include <array>

#include "stoker/kernels/scalar/function.hpp"

namespace stoker {
namespace {

struct Exclusion {
  std::string_view backend;
  std::string_view kernel;  ///< "*": all
  DType dtype;              ///< of input 0
  std::string_view reason;
};

// GLSL has no double-precision transcendental functions; the CPU computes them.
constexpr std::string_view no_f64_functions = "GLSL has no f64 transcendental functions";

constexpr std::string_view no_wide_atomics =
    "Vulkan guarantees no 64-bit atomics; the CPU computes them";

constexpr std::array exclusions = {
    Exclusion{"vulkan", "softmax", DType::f64, no_f64_functions},
    Exclusion{"vulkan", "layer_norm", DType::f64, "its sums run in f32; the CPU computes f64"},
    Exclusion{"vulkan", "indexed_add", DType::f64,
              "Vulkan guarantees no f64 atomics; the CPU adds"},
    Exclusion{"vulkan", "indexed_multiply", DType::f64, no_wide_atomics},
    Exclusion{"vulkan", "indexed_multiply", DType::s64, no_wide_atomics},
    Exclusion{"vulkan", "indexed_multiply", DType::u64, no_wide_atomics},
    Exclusion{"vulkan", "indexed_max", DType::f64, no_wide_atomics},
    Exclusion{"vulkan", "indexed_max", DType::s64, no_wide_atomics},
    Exclusion{"vulkan", "indexed_max", DType::u64, no_wide_atomics},
    Exclusion{"vulkan", "indexed_min", DType::f64, no_wide_atomics},
    Exclusion{"vulkan", "indexed_min", DType::s64, no_wide_atomics},
    Exclusion{"vulkan", "indexed_min", DType::u64, no_wide_atomics},
};

/// One sample case.
struct ExcludedCase {
  std::string_view backend;
  std::string_view kernel;
  std::string_view label;
  std::string_view reason;
};

constexpr std::string_view few_axes = "its shader walks at most 5 groups of axes; the CPU takes 8";

constexpr std::string_view large_primes =
    "its passes take primes up to 128; the CPU takes a convolution for larger ones";

constexpr std::string_view no_blocks = "the layout of kernels is what the CPU likes";

constexpr std::array excluded_cases = {
    ExcludedCase{"vulkan", "window_scatter_max", "every_other_axis", few_axes},
    ExcludedCase{"vulkan", "window_scatter_min", "every_other_axis", few_axes},
    ExcludedCase{"vulkan", "fft", "length_1009", large_primes},
    ExcludedCase{"vulkan", "ifft", "length_1009", large_primes},
};

// Factorizations depend on themselves step by step; the tensor layer runs them on the CPU.
constexpr std::array<std::string_view, 8> factorizations = {
    "cholesky", "determinant", "eigh", "lu", "qr", "solve", "svd", "triangular_solve"};

/// Whether the table of scalar functions has no GLSL for `kernel` of f64.
bool is_cpu_function(std::string_view kernel) {
  const auto function = find_scalar_function(kernel);
  return function && (*function)->glsl(DType::f64, DType::f64).expression.empty();
}

}  // namespace

std::optional<std::string> excluded(std::string_view backend, std::string_view kernel,
                                    const KernelCase& one) {
  // A case without elements never reaches a shader.
  const bool empty =
      std::ranges::any_of(one.inputs, [](const TensorSpec& spec) { return spec.elements() == 0; });
  for (const Exclusion& each : exclusions)
    if (!empty && each.backend == backend && (each.kernel == "*" || each.kernel == kernel) &&
        !one.inputs.empty() && one.inputs[0].dtype == each.dtype)
      return std::string{each.reason};
  if (!empty && backend == "vulkan" && !one.inputs.empty() && one.inputs[0].dtype == DType::f64 &&
      is_cpu_function(kernel))
    return std::string{no_f64_functions};
  for (const ExcludedCase& each : excluded_cases)
    if (each.backend == backend && each.kernel == kernel && each.label == one.label)
      return std::string{each.reason};
  if (backend == "vulkan" && (kernel == "conv" || kernel == "integer_conv") &&
      one.label.find("block") != std::string::npos)
    return std::string{no_blocks};
  if (!empty && backend == "vulkan" &&
      std::ranges::find(factorizations, kernel) != factorizations.end())
    return "the kernel has no GPU version";
  return std::nullopt;
}

}  // namespace stoker
