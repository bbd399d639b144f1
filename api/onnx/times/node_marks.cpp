#include "stoker/api/onnx/times/node_marks.hpp"

#include <algorithm>

namespace stoker::onnx {

void NodeMarks::mark() {
  made_.push_back({expr::Node::next_serial(), open_.empty() ? nullptr : open_.back()});
}

void NodeMarks::begins(const Node& node) {
  mark();
  open_.push_back(&node);
}

void NodeMarks::ends() {
  mark();
  open_.pop_back();
}

std::vector<const Node*> NodeMarks::nodes_of(const expr::Extracted& extracted,
                                             std::span<const std::uint32_t> origins) const {
  std::vector<const Node*> nodes;
  for (const std::uint32_t origin : origins) {
    if (origin >= extracted.size()) continue;
    const auto made =
        std::ranges::lower_bound(made_, extracted.node(origin).serial(), {}, &Made::serial);
    // What no mark follows was made by the node that is still open.
    const Node* const node = made != made_.end() ? made->node
                             : open_.empty()     ? nullptr
                                                 : open_.back();
    if (node == nullptr) continue;
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
  return nodes;
}

std::vector<std::string> places_of(std::span<const Node* const> nodes) {
  std::vector<std::string> places;
  places.reserve(nodes.size());
  for (const Node* const node : nodes) places.push_back(node->place());
  return places;
}

}  // namespace stoker::onnx
