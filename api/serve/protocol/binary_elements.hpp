// The elements of a tensor in the protocol's binary form: little-endian, row-major, no padding; BOOL is a byte of 0 or
// 1; an element of BYTES is its length in 4 bytes, then its bytes.
//
// Pure functions; any thread. Errors are thrown: invalid_argument for bytes that are no such tensor; limit_exceeded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/serve/protocol/json_elements.hpp"

namespace stoker::serve::protocol {

/// Refuses bytes that are too few or too many for the tensor, before there is memory for it.
void check_bytes_for(const ExpectedTensor& tensor, std::span<const std::byte> bytes);

/// Copies numbers and booleans. Precondition: check_bytes_for().
void read_binary(const ExpectedTensor& tensor, std::span<const std::byte> bytes,
                 std::span<std::byte> into);
/// Precondition: check_bytes_for().
[[nodiscard]] std::vector<std::string> read_binary_strings(const ExpectedTensor& tensor,
                                                           std::span<const std::byte> bytes);

/// Throws unsupported for a string of 4 GiB or more.
void append_binary_strings(std::string& body, std::span<const std::string> strings);

}  // namespace stoker::serve::protocol
