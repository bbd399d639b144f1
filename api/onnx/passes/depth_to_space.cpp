// Blocks of an image moved between its channels and its rows and columns, written out as a Reshape to six axes, a
// Transpose and a Reshape to four. https://onnx.ai/onnx/operators/onnx__DepthToSpace.html
#include <algorithm>
#include <array>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::depth_to_space {
namespace {

using Axes = std::vector<std::int64_t>;
using Places = std::vector<std::size_t>;

/// One operator, written out. Numbers are axes of the first Reshape's result, such as [n, r, r, c, h, w].
struct Spelling {
  Axes order;                        ///< the Transpose's perm
  std::array<std::size_t, 2> block;  ///< the axes of extent r
  std::array<Places, 4> before;      ///< the axes that make up each axis of the operand
  std::array<Places, 4> after;       ///< the axes that make up each axis of the result
  std::string_view op;
  std::string_view mode;
};

const std::array<Spelling, 3>& spellings() {
  static const std::array<Spelling, 3> all{
      Spelling{{0, 3, 4, 1, 5, 2},
               {1, 2},
               {{{0}, {1, 2, 3}, {4}, {5}}},
               {{{0}, {3}, {4, 1}, {5, 2}}},
               "DepthToSpace",
               "DCR"},
      Spelling{{0, 1, 4, 2, 5, 3},
               {2, 3},
               {{{0}, {1, 2, 3}, {4}, {5}}},
               {{{0}, {1}, {4, 2}, {5, 3}}},
               "DepthToSpace",
               "CRD"},
      Spelling{{0, 3, 5, 1, 2, 4},
               {3, 5},
               {{{0}, {1}, {2, 3}, {4, 5}}},
               {{{0}, {3, 5, 1}, {2}, {4}}},
               "SpaceToDepth",
               {}},
  };
  return all;
}

/// The constant shape of a Reshape to `rank` axes: 0 copies an extent, -1 stands at most once, for what is left.
std::optional<Axes> shape_of(const GraphEditor& graph, const Node& node, std::size_t rank) {
  if (!is(node, "Reshape") || !node.has_input(0) || node.flag("allowzero", false)) return {};
  auto shape = node.has_input(1)   ? integers_of(graph.constant(node.inputs[1]))
               : node.has("shape") ? std::optional{*node.integers("shape")}
                                   : std::nullopt;
  if (!shape || shape->size() != rank || std::ranges::count(*shape, -1) > 1 ||
      std::ranges::min(*shape) < -1)
    return {};
  return shape;
}

/// The extent of axes that become one; -1 if one of them is left open. Nothing if it is too large, or for a 0, which
/// copies the extent at its own place, unless it stays alone at that place.
std::optional<std::int64_t> merged(const Axes& six, const Places& axes, std::size_t place) {
  std::int64_t extent = 1;
  for (const std::size_t axis : axes) {
    if (six[axis] == 0) {
      if (axes.size() == 1 && axis == place) return 0;
      return {};
    }
    if (extent < 0 || six[axis] < 0)
      extent = -1;
    else if (__builtin_mul_overflow(extent, six[axis], &extent))
      return {};
  }
  return extent;
}

std::optional<Axes> merged(const Axes& six, const std::array<Places, 4>& places) {
  Axes four;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto extent = merged(six, places[i], i);
    if (!extent) return {};
    four.push_back(*extent);
  }
  return four;
}

/// Whether a Reshape to `shape` keeps the extents of a value that has these; -1 is one that is not known.
bool keeps(const Axes& shape, const Axes& extents) {
  return std::ranges::equal(shape, extents, [](std::int64_t wanted, std::int64_t extent) {
    return wanted == -1 || wanted == extent;
  });
}

/// Whether the value certainly has that shape already.
bool has_shape(const GraphEditor& graph, const std::string& name, const Axes& shape) {
  if (graph.rank_of(name) != shape.size()) return false;
  Axes extents;
  for (std::size_t i = 0; i < shape.size(); ++i)
    extents.push_back(
        shape[i] == 0 ? 0 : graph.extent_of(name, static_cast<std::int64_t>(i)).value_or(-1));
  return keeps(shape, extents);
}

void replace(GraphEditor& graph, Node& node, const Node& apart, const Spelling& spelling,
             std::int64_t block, const Axes& whole) {
  std::string x = apart.inputs[0];
  if (!has_shape(graph, x, whole)) {
    Node reshape = make_node("Reshape", 13, {x, graph.add_constant(x, tensor_of(whole))});
    x = graph.fresh(node.outputs[0]);
    reshape.outputs = {x};
    graph.insert(std::move(reshape), node);
  }
  std::vector<Attribute> attributes{attribute("blocksize", block)};
  if (!spelling.mode.empty()) attributes.push_back(attribute("mode", std::string{spelling.mode}));
  graph.replace(node, make_node(std::string{spelling.op}, 13, {x}, std::move(attributes)));
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const auto last = shape_of(graph, node, 4);
    const Node* const turned = last ? private_writer(graph, node.inputs[0], "Transpose") : nullptr;
    const Node* const apart =
        turned == nullptr ? nullptr : private_writer(graph, turned->inputs.at(0), "Reshape");
    const auto six = apart == nullptr ? std::nullopt : shape_of(graph, *apart, 6);
    const Axes* const order = six ? turned->integers("perm") : nullptr;
    if (order == nullptr) return;
    for (const Spelling& one : spellings()) {
      const std::int64_t block = (*six)[one.block[0]];
      if (*order != one.order || block < 1 || block != (*six)[one.block[1]]) continue;
      const auto whole = merged(*six, one.before);
      const auto result = merged(*six, one.after);
      if (!whole || !result || !keeps(*last, *result)) return;
      // DepthToSpace refuses an image without channels, and an open extent may come out as none.
      if (one.op == "DepthToSpace" && (*whole)[1] < 1) return;
      replace(graph, node, *apart, one, block, *whole);
      return;
    }
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "depth_to_space",
             .summary = "Reshape, Transpose and Reshape that move blocks between channels and "
                        "pixels become DepthToSpace or SpaceToDepth",
             .stage = PassStage::patterns,
             .run = &run});
}

}  // namespace stoker::onnx::passes::depth_to_space
