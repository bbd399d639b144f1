// Bounds for GLSL that does not come from the program itself, such as a script's.
//
// glslang recurses for each link of an expression, and macros and calls expand: a short text made for it overflows
// the stack or fills the memory. These checks run before: the number of tokens after macros are replaced, and the
// number of calls and loops after functions are inlined. A text within the bounds may still take the compiler, and
// a driver, long.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/kernels/glsl/frontend.hpp"

namespace stoker::glsl {

/// Tokens of a text after its macros are replaced; also its largest size in bytes.
inline constexpr std::size_t most_tokens = std::size_t{64} << 10;
/// Of a module, after its functions are inlined.
inline constexpr std::size_t most_calls = 4096;
inline constexpr std::size_t most_loops = 128;
/// Of accessors (x(i), see kernels/shader/preamble.hpp) within the arguments of others.
inline constexpr std::size_t most_nested_accessors = 8;

/// Errors: compile_failed, with the details of compile(), if the body has a macro with arguments, with `##`, with its
/// own name or with unequal parentheses, or a `\` in quotes; limit_exceeded, with `limit`, if the text is too long
/// after its macros are replaced, or nests accessors too deep.
[[nodiscard]] Result<void> check_text(const Source& source);

/// Errors: limit_exceeded, with `limit`, if a module has more calls or loops.
[[nodiscard]] Result<void> check_module(const Source& source, std::span<const std::uint32_t> words);

}  // namespace stoker::glsl
