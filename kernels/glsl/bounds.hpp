// What a text may ask of the compiler that comes from somebody else than the program.
//
// glslang calls itself for each link of an expression, and macros and calls make much of a short text: one that is
// made for it ends the process by its stack, or fills its memory. Here is what can be said before: how many tokens
// the macros make of a text, and how many calls and loops there are once SPIRV-Tools has put functions in the places
// of their calls. A text within these bounds may still take the compiler, and a driver, long.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/kernels/glsl/frontend.hpp"

namespace stoker::glsl {

/// Of a text, in tokens, once its macros have been put in their places; also its longest in bytes.
inline constexpr std::size_t most_tokens = std::size_t{64} << 10;
/// Of a module, once its functions have been put in their places.
inline constexpr std::size_t most_calls = 4096;
inline constexpr std::size_t most_loops = 128;
/// Of accessors (x(i), see kernels/preamble.hpp) within the arguments of others.
inline constexpr std::size_t most_nested_accessors = 8;

/// compile_failed, with details as of compile(): the body has a macro with arguments, one with `##`, one that names
/// itself, one with a parenthesis too many, or a `\` in quotes. limit_exceeded with `limit`: it is too long, or nests too deep.
[[nodiscard]] Result<void> check_text(const Source& source);

/// limit_exceeded with `limit`: a module has more calls or loops.
[[nodiscard]] Result<void> check_module(const Source& source, std::span<const std::uint32_t> words);

}  // namespace stoker::glsl
