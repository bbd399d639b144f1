// A chain of scalar functions over strided inputs, and the one kernel that it becomes at run time.
//
// On the CPU a program is interpreted over blocks that stay in the first-level cache, a loop for an
// instruction or vector registers for several (tiles.hpp); on a GPU it becomes one shader. Either way each
// instruction rounds to its own dtype and nothing is contracted across two of them, so a program gives the
// same bits as its instructions one by one; of a NaN, only that it is one.
//
// Programs are values. Threads: any, as with every value.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/scalar/function.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker {

struct FusedProgram {
  /// A value: the inputs are numbered first, then the constants, then the results of `code`.
  using Value = std::uint16_t;
  static constexpr std::size_t max_values = 65535;

  /// An input; its element at iteration index i is buffer[offset + Σ strides[k] · i[k]].
  struct Input {
    TensorSpec spec;          ///< of the whole buffer; only `dtype` counts for an index
    std::int64_t offset = 0;  ///< in elements, as are the strides, which may be 0 or negative
    Strides strides{};
    bool index = false;  ///< no buffer: the value is that position itself, in spec.dtype
  };
  struct Constant {
    DType dtype = DType::f32;
    std::uint64_t bits = 0;  ///< as stored, in the low bytes
  };
  struct Instruction {
    const ScalarFunction* function = nullptr;
    DType result = DType::f32;  ///< what scalar_result() gives; for a cast its target
    std::array<Value, 3> operands{};
  };

  Shape shape;  ///< of the iteration and of every output
  std::vector<Input> inputs;
  std::vector<Constant> constants;
  std::vector<Instruction> code;
  std::vector<Value> outputs;  ///< one or more; any value, also twice

  [[nodiscard]] std::size_t first_result() const noexcept {
    return inputs.size() + constants.size();
  }
  /// The dtypes of all values. Precondition: every function is set.
  [[nodiscard]] std::vector<DType> dtypes() const;
  /// The specs of the inputs that have a buffer, in order: what the kernel is called with.
  [[nodiscard]] std::vector<TensorSpec> buffers() const;

  /// Whether it makes sense: operands before their use and of fitting dtypes (dtype_mismatch), every
  /// element inside its buffer, an output (invalid_argument), at most max_values (limit_exceeded).
  [[nodiscard]] Result<void> check() const;

  /// One line for each value. Equal texts mean equal programs, in any process and version.
  [[nodiscard]] std::string to_string() const;
  /// FNV-1a of that text.
  [[nodiscard]] std::uint64_t hash() const;
};

/// `value` as a constant.
template <class T> [[nodiscard]] FusedProgram::Constant fused_constant(T value) noexcept {
  static_assert(sizeof value <= 8);
  FusedProgram::Constant constant{dtype_of<T>, 0};
  std::memcpy(&constant.bits, &value, sizeof value);
  return constant;
}

/// Compiles a shader that carries its source: GlslCompiler::try_compile, which the core does not link.
using ShaderCompiler =
    std::function<Result<std::vector<std::uint32_t>>(const Shader&, const ShaderVariant&)>;

/// The kernel "fused" of this program. It takes program.buffers() and nothing else (shape_mismatch,
/// dtype_mismatch), has no parameters and needs no registry. Where a GPU has no version, its
/// planner says `unsupported` and why. The shader is compiled when a GPU first asks for it, by
/// `compile`, which must then still be callable from any thread; without one the kernel is for the
/// CPU only. Fails as check() does.
[[nodiscard]] Result<std::shared_ptr<const Kernel>> fused_kernel(FusedProgram program,
                                                                 ShaderCompiler compile = {});

}  // namespace stoker
