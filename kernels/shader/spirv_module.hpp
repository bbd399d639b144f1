// SPIR-V modules as words: a header, then instructions (SPIR-V 1.5, section 2.3).
//
// Threads: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace stoker {

inline constexpr std::size_t spirv_header_words = 5;

/// The operation of an instruction.
[[nodiscard]] constexpr std::uint32_t spirv_op(
    std::span<const std::uint32_t> instruction) noexcept {
  return instruction.front() & 0xffffU;
}

/// Calls `see` with each instruction of a module, in order, until it returns false, if it returns anything.
/// An instruction that claims no words has one; one that claims more than there are has what is left.
template <typename See>
void for_each_instruction(std::span<const std::uint32_t> module, const See& see) {
  for (std::size_t at = spirv_header_words; at < module.size();) {
    const std::size_t words = std::clamp<std::size_t>(module[at] >> 16, 1, module.size() - at);
    const auto instruction = module.subspan(at, words);
    if constexpr (std::is_void_v<decltype(see(instruction))>)
      see(instruction);
    else if (!see(instruction))
      return;
    at += words;
  }
}

/// Whether a compute shader has global variables that a descriptor or another stage must give it: buffers, images,
/// uniforms. Stoker gives shaders push constants and addresses only; a driver may end the process on others.
[[nodiscard]] bool needs_descriptors(std::span<const std::uint32_t> spirv) noexcept;

}  // namespace stoker
