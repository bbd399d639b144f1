// A user's kernel: GLSL text with a declared signature becomes a Kernel for any GPU device.
//
//     GlslKernelSpec spec{.name = "scale", .source = R"(
//         void main() {
//           uint i = stoker_index();
//           if (i >= n) return;
//           y_store(i, T(factor) * x_load(i));
//         })"};
//     spec.inputs = {{"x"}};
//     spec.params = {{.name = "factor", .type = ParamType::real, .fallback = 1.0, .doc = "…"}};
//     registry.add(glsl_kernel(spec, compiler).value());
//
// The text is a compute shader without declarations: kernels/preamble.hpp says what it may use.
// Beside the parameters it reads
//     n        elements of the first output
//     rank     extents of the first output
//     dims[8]  these extents, outermost first, then ones
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stoker/kernels/glsl/compiler.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker {

/// A buffer in a user's signature. `type` is a dtype name ("s32"), or "T": whatever dtype of
/// GlslKernelSpec::dtypes the first input has.
struct GlslBuffer {
  std::string name;
  std::string type = "T";
};

struct GlslKernelSpec {
  std::string name;
  std::string summary = {};
  std::string source = {};          ///< the text; if empty, `file` is read
  std::filesystem::path file = {};  ///< also names the text in messages
  std::vector<GlslBuffer> inputs = {};
  std::vector<GlslBuffer> outputs = {{"y"}};
  std::vector<DType> dtypes = {DType::f32};  ///< what T may be; one variant is compiled for each
  /// boolean (read as uint 0 or 1), integer (int, must fit 32 bits) or real (float).
  std::vector<ParamSpec> params = {};
  std::array<std::uint32_t, 3> local_size = {256, 1, 1};
  bool uses_subgroups = false;

  /// One shape for each output. Empty: every output is shaped as input 0.
  std::function<Result<std::vector<Shape>>(const KernelCall&)> shapes = {};
  /// Work groups on each axis. Empty: one thread for each element of the first output.
  std::function<std::array<std::uint32_t, 3>(const KernelCall&,
                                             std::span<const TensorSpec> outputs)>
      groups = {};
};

/// Compiles every variant, so that mistakes show at once: compile_failed as GlslCompiler says,
/// io_error for an unreadable file, invalid_argument for a signature that contradicts itself.
/// The kernel has no CPU version; the caller may set Kernel::cpu.
[[nodiscard]] Result<Kernel> glsl_kernel(GlslKernelSpec spec, GlslCompiler& compiler);

}  // namespace stoker
