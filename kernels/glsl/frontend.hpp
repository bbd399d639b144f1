// GLSL text to optimised, validated SPIR-V, through glslang and SPIRV-Tools.
//
// Target: Vulkan 1.2, SPIR-V 1.5 (the oldest that Stoker's Vulkan backend accepts).
// Threads: any number at once. Never aborts; what the tools report becomes an Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::glsl {

struct Source {
  std::string op;        ///< named in errors
  std::string file;      ///< label of the body in messages
  std::string preamble;  ///< see kernels/shader/preamble.hpp
  std::string body;
  bool bounded = false;  ///< the body is held to kernels/glsl/bounds.hpp, and no loop is unrolled
};

/// compile_failed with details `file`, `line` (of the body, from 1; absent if unknown), `message`
/// (the first error) and `log` (all of them). limit_exceeded: of a body that is bounded.
[[nodiscard]] Result<std::vector<std::uint32_t>> compile(const Source& source);

/// Names the tools and their versions; equal texts under equal versions give equal SPIR-V.
[[nodiscard]] std::string_view toolchain_version();

}  // namespace stoker::glsl
