// What kind of model a file holds, by its first bytes.
//
// Threads: any; blocks on the file. Errors are thrown: not_found, io_error, and unsupported for a
// file that is not a model, with what it looks like. The file is not trusted: at most a few KiB are
// read, and no length in them is relied on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

enum class ModelKind : std::uint8_t {
  onnx,     ///< an ONNX model
  network,  ///< a network of Stoker's with its variables, as nn::Model::save() writes it
  script,   ///< a pipeline script that returns a model
};
/// "ONNX model", "Stoker network", "pipeline script".
[[nodiscard]] std::string_view to_string(ModelKind kind) noexcept;

/// The content decides if it can: an ONNX file begins with fields of its format, a network with the
/// header of a safetensors file. Otherwise the name decides: .onnx, .safetensors, .lua. A script is
/// plain text, so only its name tells.
[[nodiscard]] ModelKind kind_of_model(const std::filesystem::path& path);
/// What a file with this beginning looks like: "a ZIP archive (NumPy's .npz, PyTorch, Keras)",
/// "text".
[[nodiscard]] std::string looks_of(std::span<const std::byte> beginning);

}  // namespace stoker
