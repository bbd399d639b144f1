// Tensors as plain bytes, little-endian and row-major: no header, the program knows the spec.
//
// Threads, memory and errors as in npy.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The bytes of a file from byte `offset` on. Without an offset the file must have exactly as many as
/// the spec says, with one at least as many behind it. Throws invalid_argument if not.
[[nodiscard]] Tensor load_raw(const std::filesystem::path& path, const TensorSpec& spec,
                              std::optional<std::uint64_t> offset = {});
void save_raw(const std::filesystem::path& path, const Tensor& tensor);

/// One axis of as many elements as the bytes hold. Throws invalid_argument unless they divide evenly.
[[nodiscard]] Tensor from_bytes(std::span<const std::byte> bytes, DType dtype);
/// The first `limit` elements at most, as the device stores them; waits for them.
[[nodiscard]] std::vector<std::byte> to_bytes(const Tensor& tensor, std::size_t limit);

}  // namespace stoker
