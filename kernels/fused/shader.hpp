// A fused program as one compute shader.
#pragma once

#include "stoker/kernels/fused/layout.hpp"

namespace stoker::kernels::fused {

/// The shader and how a plan uses it. A thread computes `unit` adjacent elements.
///
/// The text depends on functions, dtypes and how things lie, by classes: the rank after merging axes, which
/// inputs are dense or a single element, which strides and offsets are 0, whether four elements are one load.
/// It depends neither on extents and strides nor on constants, but for integers that are divided by, which
/// drivers do better knowing. So programs that differ in those only have the same text and name.
struct FusedShader {
  /// One variant, without SPIR-V; push fields n, the number of elements, and if there are `words`, an array
  /// of these.
  Shader shader;
  std::vector<std::uint32_t> inputs;      ///< which of the kernel's inputs the first bindings are
  std::vector<std::uint32_t> words = {};  ///< what is pushed: extents, strides, constants
  std::uint32_t unit = 4;
};

/// unsupported: a function that GPUs do not have for its dtype, named in `details`; limit_exceeded:
/// positions beyond 32 bits.
[[nodiscard]] Result<FusedShader> make_shader(const FusedProgram& program);

/// The program as GLSL functions for a shader that goes on with its values; the program has one output.
/// The text, `shader.source`, has no main: `R fused_value(uint i)` gives element i in its compute type
/// R, and where unit is 4, `R4 fused_values(uint i)` the elements from i on, a multiple of four, in one
/// row. Bound are the inputs, the words are the only push field; letters are declared for the dtypes that
/// the text needs.
[[nodiscard]] Result<FusedShader> make_values(const FusedProgram& program);

/// The program as GLSL functions for a shader that makes the values of input `given`, which is needed
/// and dense: `void fused_store(uint i, T v)` stores the outputs of element i, of which v is that
/// input in its compute type T, and `void fused_store4(uint i, T4 v)` those from i on, a multiple of
/// four, in one row. The rest is as with make_values(), but that the outputs are bound, too.
[[nodiscard]] Result<FusedShader> make_stores(const FusedProgram& program, std::size_t given);

/// Names a shader after its text and the dtypes of its bindings.
void name_by_text(Shader& shader);

}  // namespace stoker::kernels::fused
