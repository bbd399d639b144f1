#include "predict_inputs.hpp"

#include <CLI/CLI.hpp>

#include "stoker/api/command_line/predict/input_value.hpp"
#include "stoker/api/image.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/pipeline/image/image_io.hpp"

namespace stoker::command_line {
namespace {

namespace fs = std::filesystem;

bool is_picture(const std::string& value) {
  return !value.starts_with("zeros:") && image_format(fs::path{value}).has_value();
}

onnx::Value read_input(const std::string& value, const ImageOptions& options,
                       const onnx::ValueInfo& input, const AnyModel& model) {
  if (is_picture(value)) {
    const Image picture = image::load(value);
    return model.image_input(input.name, Tensor{model.device().buffer(picture.spec, picture.bytes)},
                             options);
  }
  return value_for(input, value);
}

}  // namespace

PredictInputs parse_inputs(const PredictWords& words) {
  PredictInputs inputs;
  for (const std::string& word : words.inputs) {
    const auto [name, value] = named("--input", word);
    if (!is_picture(value) && !is_value(value))
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
