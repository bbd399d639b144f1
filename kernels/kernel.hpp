// The definition of a kernel: everything that the rest of Stoker knows about it.
//
// One folder under kernels/ defines one kernel or a close family:
//     options.hpp      the kernels as types (typed_kernel.hpp), each with its options, and their list,
//                      stoker::kernels::<Folder>Kernels: `using GaussianBlurKernels = KernelTypes<…>`
//     definition.cpp   Result<void> stoker::kernels::<folder>::define(KernelRegistry&)
//     cpu.cpp          void stoker::kernels::<folder>::STOKER_ISA::implement(CpuTable&)
//                      compiled once per instruction set
//     *.glsl           the computation only; docs/kernels.md lists what it may use
//     cases.cpp        sample cases, error bounds and the double-precision reference (tests only)
// CMake finds the folder; nothing else is edited.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/arity.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker {

struct Kernel {
  std::string name;                       ///< "gaussian_blur"
  std::vector<std::string> aliases = {};  ///< other names it answers to (ExCubecl's)
  std::string family;                     ///< "elementwise", "image", …; for listings
  std::string summary;                    ///< one line: what it computes, with its formula
  std::string source = {};                ///< citation of the formula or algorithm, if any
  std::vector<ParamSpec> params = {};
  Arity inputs = {};
  /// Accepted dtypes of input 0. `infer` states how the others follow.
  std::vector<DType> dtypes;
  /// Whether an output may be the same memory as input 0. Each element must then depend only on the
  /// element at its own position, and a shader's thread must load that once, before it stores the
  /// result. Bindings are `restrict` nevertheless.
  bool in_place = false;

  /// The outputs' specs, or why these inputs do not fit (shape_mismatch, dtype_mismatch,
  /// invalid_parameter). Arity, params and the dtype of input 0 have been checked before.
  std::function<Result<std::vector<TensorSpec>>(const KernelCall&)> infer;

  /// The GPU version, or empty. Never called when an output has no elements.
  std::function<Result<GpuPlan>(const KernelCall&, std::span<const TensorSpec> outputs,
                                const GpuTraits&)>
      gpu = {};
  std::vector<std::shared_ptr<const Shader>> shaders = {};

  /// The CPU version of a user-defined kernel; those of built-in kernels are in the CpuTable. Never
  /// called when an output has no elements.
  CpuPlanner cpu = {};

  /// Checks arity, dtype and parameters, then infers. `op` of every error is the kernel's name.
  [[nodiscard]] Result<std::vector<TensorSpec>> check(std::span<const TensorSpec> inputs,
                                                      const ParamSet& params) const;
};

/// The beginning of a definition: K's name and parameters.
template <TypedKernel K> [[nodiscard]] Kernel kernel_of() {
  Kernel kernel;
  kernel.name = K::kind;
  kernel.params = options::specs<K>();
  return kernel;
}

/// Kernels by name and alias. Filled during construction, immutable afterwards: share it freely.
class KernelRegistry {
 public:
  /// All built-in kernels. The first call builds the table; later calls return the same one, which
  /// lives until the process ends. Throws the Error of a definition that add() refuses.
  [[nodiscard]] static const KernelRegistry& builtin();

  /// Adds a kernel; already_exists if its name or an alias is taken, invalid_argument if the
  /// definition is incomplete.
  Result<void> add(Kernel kernel);

  /// The kernel, or unknown_kernel with the nearest known name in `details`.
  [[nodiscard]] Result<std::shared_ptr<const Kernel>> find(std::string_view name) const;
  /// All kernels, ordered by name.
  [[nodiscard]] std::vector<std::shared_ptr<const Kernel>> list() const;

 private:
  std::map<std::string, std::shared_ptr<const Kernel>, std::less<>> by_name_;
};

/// The CPU versions for the best instruction set this processor has, or for the one that the
/// environment variable STOKER_ISA names (v1, v3, v4) if the processor has it.
[[nodiscard]] const CpuTable& cpu_table() noexcept;
/// "x86-64-v3" …: which one cpu_table() is.
[[nodiscard]] std::string_view cpu_isa() noexcept;

}  // namespace stoker
