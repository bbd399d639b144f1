// Files with only a model's variables: JSON that any program can read, and bytes in the safetensors
// format.
//
// JSON has them by name with type, shape and nested lists; numbers are exact except for the payloads of NaN.
//
// Threads: any; loaded variables are on current_device(). All functions block. Errors are thrown:
// invalid_argument, saying what was expected, for a file that these functions have not written or that has
// other variables, types or shapes; io_error and not_found; unsupported for complex numbers in JSON. Input
// is not trusted.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn {

/// Written under another name and renamed.
void export_params(const Variables& all, const std::filesystem::path& path);
/// The variables of `like` with the values of the file, which must have exactly these.
[[nodiscard]] Variables import_params(Variables like, const std::filesystem::path& path);

[[nodiscard]] std::vector<std::byte> serialize_params(const Variables& all);
[[nodiscard]] Variables deserialize_params(Variables like, std::span<const std::byte> bytes);

}  // namespace stoker::nn
