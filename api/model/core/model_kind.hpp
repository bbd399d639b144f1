// What kind of model a file holds, by its first bytes.
//
// Threads: any; blocks on the file. Errors are thrown: not_found, io_error, and unsupported for
// what is no model, with what it looks like. Input is not trusted: at most a few KiB are read, and
// nothing of them is believed.
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

/// Content decides where it can: an ONNX file begins with fields of its format, a network with the
/// header of a safetensors file. Else the name does: .onnx, .safetensors, .lua. A script is text,
/// so it needs its name.
[[nodiscard]] ModelKind kind_of_model(const std::filesystem::path& path);
/// What a file that begins so looks like: "a ZIP archive (NumPy's .npz, PyTorch, Keras)", "text".
[[nodiscard]] std::string looks_of(std::span<const std::byte> beginning);

}  // namespace stoker
