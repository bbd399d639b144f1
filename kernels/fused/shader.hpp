// A fused program as one compute shader.
#pragma once

#include "stoker/kernels/fused/layout.hpp"

namespace stoker::kernels::fused {

/// The shader and how a plan uses it. A thread computes `unit` adjacent elements.
///
/// Where every input is dense or a single element, the text does not depend on the shape: programs
/// that differ in it only have the same text and name. Else extents and strides stand in the text.
struct FusedShader {
  Shader shader;  ///< one variant, without SPIR-V; push field n, the number of elements
  std::vector<std::uint32_t> inputs;  ///< which of the kernel's inputs the first bindings are
  std::uint32_t unit = 4;
};

/// unsupported: a function that GPUs do not have for its dtype, named in `details`; limit_exceeded:
/// too many buffers, or positions beyond 32 bits.
[[nodiscard]] Result<FusedShader> make_shader(const FusedProgram& program);

}  // namespace stoker::kernels::fused
