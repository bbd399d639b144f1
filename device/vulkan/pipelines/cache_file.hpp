// A file of bytes that is either read back whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::device::vulkan {

/// Part of the file's name and header; raised whenever what is stored changes its meaning.
inline constexpr std::uint32_t cache_format = 1;

/// The bytes, or none if there is no file or it is damaged (magic, format, size, checksum).
[[nodiscard]] std::vector<std::byte> read_cache_file(const std::filesystem::path& file);

/// Replaces the file in one step; makes its folder. io_error with the path otherwise.
[[nodiscard]] Result<void> write_cache_file(const std::filesystem::path& file,
                                            std::span<const std::byte> bytes);

}  // namespace stoker::device::vulkan
