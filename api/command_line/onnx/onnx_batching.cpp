#include "onnx_batching.hpp"

#include <nlohmann/json.hpp>

#include "onnx_options.hpp"
#include "onnx_shapes.hpp"
#include "stoker/api/command_line/one_line.hpp"
#include "stoker/api/serve/row_check.hpp"
#include "stoker/api/serve/row_samples.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

/// What a request would give; empty if nobody says it, or if the declaration of the inputs decides already.
onnx::NamedValues sample_of(const AnyModel& model,
                            const std::vector<onnx::Description::Input>& inputs,
                            const OnnxInfoWords& words) {
  if (words.shapes.empty() && words.inputs.empty()) return {};
  if (!serve::RowLayout::of(model.inputs()).joins()) return {};
  return with_values(inputs, words.shapes, values_for(inputs, words.inputs),
                     [](onnx::ElementType element, const Shape& shape) {
                       return serve::made_up(element, shape, 1);
                     });
}

std::string lines_of(const char* kind, const Batching::Axes& axes) {
  std::string text;
  for (const auto& [name, axis] : axes)
    text += "  " + std::string{kind} + " '" + one_line(name) + "' along axis " +
            std::to_string(axis) + '\n';
  return text;
}

nlohmann::json axes_json(const Batching::Axes& axes) {
  nlohmann::json made = nlohmann::json::object();
  for (const auto& [name, axis] : axes) made[printable(name)] = axis;
  return made;
}

}  // namespace

Batching batching_of(const Device& device, const std::vector<onnx::Description::Input>& inputs,
                     const OnnxInfoWords& words) {
  const AnyModel model = load_model(words.model, model_options(device, words.passes));
  const DeviceScope scope{model.device()};
  const serve::RowLayout layout = serve::checked_layout(model, sample_of(model, inputs, words));
  Batching batching{.why_apart = layout.why_apart(), .inputs = {}, .outputs = {}};
  if (!layout.joins()) return batching;
  for (std::size_t i = 0; i < model.inputs().size(); ++i)
    batching.inputs.emplace_back(model.inputs()[i].name, layout.input_axis(i));
  for (const onnx::ValueInfo& output : model.outputs())
    batching.outputs.emplace_back(output.name, layout.output_axis(output.name));
  return batching;
}

std::string to_text(const Batching& batching) {
  if (!batching.why_apart.empty())
    return "batching: requests run one at a time: " + one_line(batching.why_apart) + '\n';
  return "batching: requests are joined\n" + lines_of("input", batching.inputs) +
         lines_of("output", batching.outputs);
}

nlohmann::json to_json(const Batching& batching) {
  if (!batching.why_apart.empty())
    return {{"joins", false}, {"why", printable(batching.why_apart)}};
  return {{"joins", true},
          {"inputs", axes_json(batching.inputs)},
          {"outputs", axes_json(batching.outputs)}};
}

}  // namespace stoker::command_line
