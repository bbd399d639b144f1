// Zeros around the operand of a convolution or an average, minus infinity around that of a maximum: its own padding.
#include <algorithm>
#include <limits>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::pad {
namespace {

using Numbers = std::vector<std::int64_t>;
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

/// What a Pad puts around the spatial axes, as `pads` of other operators has it; nothing if it is not constant, cuts
/// off, or reaches to batch or channels.
std::optional<Numbers> spatial_pads(const GraphEditor& graph, const Node& node) {
  if (node.text("mode", "constant") != "constant" || node.has_input(3)) return {};
  const char* const name = node.has("paddings") ? "paddings" : "pads";
  const auto pads = node.has_input(1) ? integers_of(graph.constant(node.inputs[1]))
                    : node.has(name)  ? std::optional{*node.integers(name)}
                                      : std::nullopt;
  if (!pads || pads->size() < 6 || pads->size() % 2 != 0) return {};
  const std::size_t axes = pads->size() / 2;
  Numbers spatial;
  for (std::size_t i = 0; i < pads->size(); ++i) {
    const std::int64_t one = (*pads)[i];
    if (one < 0 || one > most) return {};
    if (i % axes >= 2)
      spatial.push_back(one);
    else if (one != 0)
      return {};
  }
  return spatial;
}

std::optional<double> value_of(const GraphEditor& graph, const Node& node) {
  if (!node.has_input(2)) return static_cast<double>(node.real("value", 0));
  const TensorData* const value = graph.constant(node.inputs[2]);
  const auto numbers = reals_of(value);
  if (!numbers || numbers->size() != 1) return {};
  return numbers->front();
}

/// The padding that it has, with as many entries; nothing if it depends on extents.
std::optional<Numbers> own_pads(const Node& node, std::size_t count) {
  const std::string rule = node.text("auto_pad", "NOTSET");
  if (rule == "VALID") return Numbers(count, 0);
  if (rule != "NOTSET") return {};
  Numbers pads = node.integers("pads", Numbers(count, 0));
  if (pads.size() != count ||
      std::ranges::any_of(pads, [](std::int64_t one) { return one < 0 || one > most; }))
    return {};
  return pads;
}

/// Whether padding with `value` is what the operator itself does, and with what `count_include_pad`.
bool pads_alike(Node& node, double value, const Numbers& own, bool& counts) {
  if (is(node, "Conv")) return value == 0;
  if (node.flag("ceil_mode", false)) return false;  // windows that hang over begin elsewhere
  if (is(node, "MaxPool")) return value == -std::numeric_limits<double>::infinity();
  if (!is(node, "AveragePool") || node.opset < 7 || value != 0) return false;
  const bool has_none = std::ranges::all_of(own, [](std::int64_t one) { return one == 0; });
  counts = true;
  return has_none || node.flag("count_include_pad", false);
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if ((!is(node, "Conv") && !is(node, "AveragePool") && !is(node, "MaxPool")) ||
        node.has_output(1))
      return;
    const Node* const pad = private_writer(graph, node.inputs.at(0), "Pad");
    const auto around = pad == nullptr ? std::nullopt : spatial_pads(graph, *pad);
    const auto value = around ? value_of(graph, *pad) : std::nullopt;
    auto pads = around ? own_pads(node, around->size()) : std::nullopt;
    bool counts = false;
    if (!value || !pads || !pads_alike(node, *value, *pads, counts)) return;
    for (std::size_t i = 0; i < pads->size(); ++i) (*pads)[i] += (*around)[i];
    graph.set_input(node, 0, std::string{pad->inputs.at(0)});
    graph.set_attribute(node, "pads", *pads);
    graph.drop_attribute(node, "auto_pad");
    if (counts) graph.set_attribute(node, "count_include_pad", std::int64_t{1});
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "pad",
             .summary =
                 "a constant Pad with zeros is merged into the pads of the Conv or AveragePool "
                 "behind it, and one with minus infinity into those of a MaxPool",
             .level = Optimize::all,
             .stage = PassStage::weights,
             .run = &run});
}

}  // namespace stoker::onnx::passes::pad
