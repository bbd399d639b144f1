// Functions of tensors as ONNX models.
//
//     const auto f = [](const std::vector<Tensor>& x) { return std::vector{softmax(matmul(x[0], w))}; };
//     onnx::save(f, {{"x", DType::f32, {"batch", 784}}}, "f.onnx");
//
// The function is traced, as jit() traces it, and each operation becomes operators of ONNX's own domain. Tensors that
// the function captures become the file's weights. An open extent of an input has a name; the function is then called
// three times, with numbers for this extent, and its extents must be constant or proportional to it. Networks and
// trained models: api/model/core/network_export.hpp.
//
// Threads: any. Blocks on weights that are still being computed, and on the file. Errors are thrown: invalid_argument
// for an opset that is not supported, for names that are empty or occur twice, for more than one open extent, and for a
// function whose operations depend on the batch; unsupported with the names of all operations that have no ONNX form,
// and the reasons; limit_exceeded for a file of more than 2 GiB; errors of the function; not_found, io_error. A file is
// written completely or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "stoker/api/device.hpp"
#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

inline constexpr int least_saved_opset = 13;
inline constexpr int most_saved_opset = 21;

/// An input of the model: a number, or the name of the open extent, for each axis.
struct SaveInput {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::variant<std::int64_t, std::string>> dims = {};
};

struct SaveOptions {
  int opset = 17;
  /// A number for the open extent, which then is fixed.
  std::optional<std::int64_t> batch = {};
  /// One name for each output; empty: "output_0", "output_1", …
  std::vector<std::string> outputs = {};
  /// Names of weights; their tensors have been computed. Other weights are "weights_0", …
  std::map<std::string, Tensor, std::less<>> weights = {};
  std::string doc = {};
  Metadata metadata = {};
  /// The device that computes nodes of constants. None: current_device().
  Device device = {};
};

using SavedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

/// The model that save() writes.
[[nodiscard]] ModelFile exported(const SavedFunction& function,
                                 const std::vector<SaveInput>& inputs,
                                 const SaveOptions& options = {});
void save(const SavedFunction& function, const std::vector<SaveInput>& inputs,
          const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace stoker::onnx
