// A model's variables alone: as JSON that any program reads, and as bytes, a safetensors file.
//
// JSON has them by name with type, shape and nested lists; numbers come back exactly, but for the payloads of
// NaN.
//
// Threads: any; what is read lives on current_device(). All of it waits. Errors are thrown: invalid_argument,
// saying what was expected, for what was not written here or holds other variables, types or shapes;
// io_error and not_found; unsupported for complex numbers in JSON. Input is not trusted.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn {

/// Written under another name and renamed.
void export_params(const Variables& all, const std::filesystem::path& path);
/// Exactly the variables of `like`, with the numbers of the file.
[[nodiscard]] Variables import_params(Variables like, const std::filesystem::path& path);

[[nodiscard]] std::vector<std::byte> serialize_params(const Variables& all);
[[nodiscard]] Variables deserialize_params(Variables like, std::span<const std::byte> bytes);

}  // namespace stoker::nn
