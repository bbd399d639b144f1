// A user-defined kernel in one definition: its signature, its GLSL text for GPUs, its C++ function
// for the CPU, and its gradient.
//
//     const stoker::UserKernel parabola = system.add_kernel({
//         .name = "parabola",
//         .inputs = {{"x"}},
//         .params = {{"a", stoker::ParamType::real, 1.0, "factor of x squared"}},
//         .glsl = "void main() { uint i = stoker_index(); if (i < n) y(i) = a * x(i) * x(i); }",
//         .cpu = [](const stoker::CppCall& call, std::size_t begin, std::size_t end) { … },
//         .gradient = [](const stoker::KernelBackward& b) { … },
//     });
//     device.run("parabola", {x}, {{"a", 2.0}});             // on buffers, in pipelines and in scripts
//     stoker::call(parabola, {tensor}, {{"a", 2.0}});        // in lazy programs: api/tensor/transforms/kernel_call.hpp
//
// `name` and `params` may follow from a struct of options (kernels/typed_kernel.hpp), so that calls are
// checked by the compiler: `.name = std::string{Parabola::kind}, .params = options::specs<Parabola>()`,
// and then device.run(Parabola{.a = 2}, {x}).
//
// `glsl` or `cpu` may be omitted: without `cpu` a CPU refuses the kernel (`unsupported`), without
// `glsl` a GPU does. A lazy program on a GPU computes a kernel without `glsl` on the CPU. Use a
// CppKernelSpec if the number of inputs varies or the dtypes follow another rule.
//
// The GLSL text is a compute shader without declarations; docs/kernels.md ("What a shader may use")
// lists what it may use. Besides the buffers and parameters it may read
//     n        elements of the first output
//     rank     extents of the first output
//     dims[8]  these extents, outermost first, then ones
//
// Threads: specs are plain values. Stoker calls the functions on any thread, possibly several at
// once.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/kernels/cpp_kernel.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/shader/glsl_text.hpp"
#include "stoker/runtime/futures/cancel_token.hpp"

namespace stoker {

class Tensor;
struct KernelBackward;  // api/tensor/transforms/kernel_call.hpp, component tensor

/// The gradients with respect to the inputs, in their order; an empty Tensor is allowed for an
/// integer input.
using KernelGradient = std::function<std::vector<Tensor>(const KernelBackward&)>;

/// A buffer in a signature. `type` is a dtype name ("s32"), or "T": the dtype of the call's first
/// buffer of type "T".
struct KernelBuffer {
  std::string name;
  std::string type = "T";
};

struct KernelSpec {
  std::string name;
  std::string summary = {};
  std::vector<KernelBuffer> inputs = {{"x"}};
  std::vector<KernelBuffer> outputs = {{"y"}};
  std::vector<DType> dtypes = {DType::f32};  ///< what T may be
  /// GLSL reads booleans (as uint 0 or 1), integers (as int; they must fit 32 bits) and reals (as float).
  std::vector<ParamSpec> params = {};
  /// Returns one shape for each output. Empty: all inputs must have the same shape, which is also
  /// every output's.
  std::function<Result<std::vector<Shape>>(const KernelCall&)> shapes = {};

  // On a GPU; a text needs the component glsl ---------------------------------------------------------
  GlslText glsl = {};
  std::array<std::uint32_t, 3> local_size = {256, 1, 1};
  bool uses_subgroups = false;
  /// Work groups on each axis. Empty: one thread for each element of the first output.
  std::function<std::array<std::uint32_t, 3>(const KernelCall&,
                                             std::span<const TensorSpec> outputs)>
      groups = {};

  // On a CPU ------------------------------------------------------------------------------------------
  /// Computes elements [begin, end) of the first output; see CppKernelSpec::run, also for the next two.
  std::function<void(const CppCall&, std::size_t begin, std::size_t end)> cpu = {};
  std::size_t grain = CppKernelSpec{}.grain;
  double ns_per_element = 0;

  /// For stoker::call(). Empty: the kernel has no gradient; asking for one gives `unsupported`.
  KernelGradient gradient = {};
};

/// A kernel that System::add_kernel() has added, with its gradient. A shared handle.
struct UserKernel {
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const KernelGradient> gradient = {};  ///< null: none
  [[nodiscard]] const std::string& name() const noexcept { return kernel->name; }
};

/// The kernel without its gradient, as System::add_kernel() adds it. Its GLSL is compiled for every
/// dtype, so that mistakes show at once; the SPIR-V is kept in `cache_dir` unless that is empty.
/// Errors: compile_failed (details `file`, `line` in the text, from 1, and `message`),
/// limit_exceeded (GlslText::bounded()), invalid_argument for a definition that contradicts itself,
/// and the cause of `cancel`, which is checked before each dtype.
[[nodiscard]] Result<Kernel> try_make_kernel(KernelSpec spec,
                                             const std::filesystem::path& cache_dir = {},
                                             const CancelToken& cancel = {});
/// The same, but throws the Error.
[[nodiscard]] Kernel make_kernel(KernelSpec spec, const std::filesystem::path& cache_dir = {},
                                 const CancelToken& cancel = {});

}  // namespace stoker
