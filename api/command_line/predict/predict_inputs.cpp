#include "predict_inputs.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "stoker/api/image.hpp"
#include "stoker/api/onnx/core/value_files.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/pipeline/image/image_io.hpp"
#include "stoker/pipeline/onnx/reading/value_reader.hpp"

namespace stoker::command_line {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view zeros_word = "zeros:";

bool is_zeros(const std::string& value) { return value.starts_with(zeros_word); }
bool is_picture(const std::string& value) {
  return !is_zeros(value) && image_format(fs::path{value}).has_value();
}

/// The extents of "1x3x240x320"; nothing for what is none.
std::optional<std::vector<std::int64_t>> extents_of(std::string_view text) {
  std::vector<std::int64_t> extents;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (!extents.empty() && *at++ != 'x') return {};
    std::int64_t extent = -1;
    const auto [next, failure] = std::from_chars(at, end, extent);
    if (failure != std::errc{} || extent < 0 || next == at) return {};
    extents.push_back(extent);
    at = next;
  }
  if (extents.size() > Shape::max_rank) return {};
  return extents;
}

onnx::Value typed(const Tensor& x, const onnx::ValueInfo& input) {
  // A file does not say that its bytes are truths or parts of numbers; the model does.
  if (onnx::carrier_of(input.type.element) == x.dtype()) return {x, input.type.element};
  return x;
}

onnx::Value zeros_of(const std::string& value, const onnx::ValueInfo& input) {
  const auto extents = extents_of(std::string_view{value}.substr(zeros_word.size()));
  const DType dtype = onnx::carrier_of(input.type.element).value_or(DType::f32);
  return typed(zeros(Shape::make(*extents, "predict"), dtype), input);
}

onnx::Value value_file(const fs::path& path, const onnx::ValueInfo& input) {
  std::error_code failure;
  std::ifstream file{path, std::ios::binary};
  if (!fs::is_regular_file(path, failure) || !file)
    throw Error{
        "predict", ErrorCode::not_found, "there is no such file", {{"path", path.string()}}};
  const auto bytes = std::make_shared<const std::string>(std::istreambuf_iterator<char>{file},
                                                         std::istreambuf_iterator<char>{});
  const auto read = onnx::read_value(std::as_bytes(std::span{*bytes}), input.type.kind, {}, bytes);
  if (read.has_error()) throw read.error().with("path", path.string());
  return onnx::value_of(*read);
}

onnx::Value read_input(const std::string& value, const ImageOptions& options,
                       const onnx::ValueInfo& input, const AnyModel& model) {
  if (is_zeros(value)) return zeros_of(value, input);
  if (is_picture(value)) {
    const Image picture = image::load(value);
    return model.image_input(input.name, Tensor{model.device().buffer(picture.spec, picture.bytes)},
                             options);
  }
  if (fs::path{value}.extension() == ".pb") return value_file(value, input);
  return typed(load_npy(value), input);
}

}  // namespace

PredictInputs parse_inputs(const PredictWords& words) {
  PredictInputs inputs;
  for (const std::string& word : words.inputs) {
    const auto [name, value] = named("--input", word);
    const bool is_shape =
        is_zeros(value) && extents_of(std::string_view{value}.substr(zeros_word.size()));
    const fs::path extension = fs::path{value}.extension();
    if (!is_shape &&
        (is_zeros(value) || (!is_picture(value) && extension != ".npy" && extension != ".pb")))
      throw CLI::ValidationError{
          "--input", "'" + value + "' is no .npy, .pb, .png or .jpg, nor like zeros:1x3x240x320"};
    if (!inputs.values.emplace(name, value).second)
      throw CLI::ValidationError{"--input", "'" + name + "' is given twice"};
  }
  for (const std::string& word : words.images) {
    const auto [name, text] = named("--image", word);
    const auto found = inputs.values.find(name);
    if (found == inputs.values.end() || !is_picture(found->second))
      throw CLI::ValidationError{"--image", "the input '" + name + "' is no picture"};
    if (!inputs.pictures.emplace(name, parse_picture(text)).second)
      throw CLI::ValidationError{"--image", "'" + name + "' is given twice"};
  }
  return inputs;
}

NamedValues read_inputs(const PredictInputs& inputs, const AnyModel& model) {
  NamedValues values;
  const DeviceScope scope{model.device()};
  for (const auto& [name, value] : inputs.values) {
    const auto picture = inputs.pictures.find(name);
    values.emplace(
        name, read_input(value, picture == inputs.pictures.end() ? ImageOptions{} : picture->second,
                         model.input(name), model));
  }
  return values;
}

}  // namespace stoker::command_line
