// Tensors as plain bytes, little-endian and row-major, without a header: the program must know the
// spec.
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

/// Loads a file's bytes, starting at byte `offset`. Without an offset the file must have exactly
/// the size of the spec; with one, at least that size from there on. Throws invalid_argument if
/// not.
[[nodiscard]] Tensor load_raw(const std::filesystem::path& path, const TensorSpec& spec,
                              std::optional<std::uint64_t> offset = {});
void save_raw(const std::filesystem::path& path, const Tensor& tensor);

/// A vector of all elements in `bytes`. Throws invalid_argument if the size is not a multiple of
/// the element's.
[[nodiscard]] Tensor from_bytes(std::span<const std::byte> bytes, DType dtype);
/// At most the first `limit` elements, in the device's layout. Blocks until they are computed.
[[nodiscard]] std::vector<std::byte> to_bytes(const Tensor& tensor, std::size_t limit);

}  // namespace stoker
