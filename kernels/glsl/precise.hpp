// Keeps GLSL's `precise` through SPIRV-Tools.
//
// A `precise` operation is decorated NoContraction: drivers may neither fuse nor reorder it. SPIRV-Tools
// up to 2024.4 lose the decoration of every operation that they copy when they unroll a loop
// (github.com/KhronosGroup/SPIRV-Tools/issues/5902). Source lines are copied, so each such operation is
// given one before the passes run, and whatever has it afterwards is decorated again.
//
// Threads: any. All take a whole module of glslang's without debug information: its form is SPIR-V's
// "Physical Layout" (section 2.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stoker::glsl {

/// Whether a module has precise operations and loops that are to be unrolled.
[[nodiscard]] bool unrolls_precise(std::span<const std::uint32_t> words);

/// The module, with a source line before every operation that is decorated NoContraction.
[[nodiscard]] std::vector<std::uint32_t> with_precise_lines(std::span<const std::uint32_t> words);

/// The module without source lines; operations that had the line above are decorated NoContraction.
[[nodiscard]] std::vector<std::uint32_t> with_precise_decorations(
    std::span<const std::uint32_t> words);

}  // namespace stoker::glsl
