// QuantizeLinear and DequantizeLinear of com.microsoft, which compute the same as ONNX's own. Other passes look for
// those.
#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::microsoft_quantization {
namespace {

constexpr const char* microsoft = "com.microsoft";
/// From this version on ONNX's own take integers of 16 bits.
constexpr std::int64_t opset = 21;

void rewrite(GraphEditor& graph, Node& node) {
  if (node.domain != microsoft || (node.op != "QuantizeLinear" && node.op != "DequantizeLinear"))
    return;
  // A program may have put another operator in its place.
  if (graph.model().operators->find(microsoft, node.op) !=
      OperatorTable::standard().find(microsoft, node.op))
    return;
  Node made = make_node(node.op, opset, node.inputs, node.attributes);
  made.name = node.name;
  graph.replace(node, std::move(made));
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) { rewrite(graph, node); });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "microsoft_quantization",
             .summary = "QuantizeLinear and DequantizeLinear of com.microsoft become those of ONNX",
             .run = &run});
}

}  // namespace stoker::onnx::passes::microsoft_quantization
