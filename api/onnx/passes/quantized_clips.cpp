// Relu and Clip are dropped where they cut off nothing that quantised numbers can stand for.
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/quantization.hpp"

namespace stoker::onnx::passes::quantized_clips {
namespace {

/// A bound changes nothing if it becomes the type's own.
bool is_cut_by_type(const GraphEditor& graph, const ClipBounds& bounds, const Quantized& to) {
  const auto steps = steps_of(graph, to);
  const auto ends = quantized_ends(graph, to, bounds.least, bounds.most);
  return ends && ends->low == steps->ends.low && ends->high == steps->ends.high;
}

/// Whether all that the integers stand for lies within.
bool has_all(const GraphEditor& graph, const ClipBounds& bounds, const Quantized& from) {
  const auto steps = steps_of(graph, from);
  if (!steps) return false;
  const auto real = [&](double number) {
    return static_cast<double>(static_cast<float>(number - steps->zero) *
                               static_cast<float>(from.scales[0]));
  };
  return bounds.least <= real(steps->ends.low) && bounds.most >= real(steps->ends.high);
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (const auto to = quantized_by(graph, node)) {
      Node* const clip = graph.writer(node.inputs.at(0));
      if (clip == nullptr || !clip->has_input(0) || !graph.is_read_once(node.inputs[0])) return;
      const auto bounds = clip_bounds(graph, *clip);
      if (!bounds || !is_cut_by_type(graph, *bounds, *to)) return;
      graph.forward(*clip, clip->inputs[0]);
    } else if (const auto bounds = clip_bounds(graph, node); bounds && node.has_input(0)) {
      const auto from = dequantized_from(graph, node.inputs[0]);
      if (from && has_all(graph, *bounds, *from)) graph.forward(node, node.inputs[0]);
    }
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "quantized_clips",
             .summary = "a Relu or Clip before a QuantizeLinear or after a DequantizeLinear is "
                        "removed if the 8-bit integers represent no number outside its bounds",
             .level = Optimize::all,
             .stage = PassStage::integers,
             .run = &run});
}

}  // namespace stoker::onnx::passes::quantized_clips
