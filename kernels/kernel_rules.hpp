// What a kernel's definition must hold before a registry takes it, and what its calls must.
#pragma once

#include "stoker/kernels/kernel.hpp"

namespace stoker {

/// invalid_argument, saying what is missing or contradicts itself. Checked are names, arity, the
/// schema's defaults and ranges, and that every shader variant has a preamble: types bound, names
/// usable in GLSL, at most 1024 threads in a group.
[[nodiscard]] Result<void> check_definition(const Kernel& kernel);

/// For kernels that read all inputs at the same positions. Errors: shape_mismatch, naming the
/// input.
[[nodiscard]] Result<void> check_shaped_alike(std::string_view kernel, const KernelCall& call);

}  // namespace stoker
