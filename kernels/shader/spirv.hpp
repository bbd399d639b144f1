// The SPIR-V of the built-in shaders, compiled when Stoker was built.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stoker {

/// The module of one variant, or an empty span. The words live as long as the program.
[[nodiscard]] std::span<const std::uint32_t> builtin_spirv(std::string_view shader,
                                                           std::string_view variant) noexcept;

}  // namespace stoker
