#include "stoker/pipeline/tensor/program/extraction.hpp"

#include <unordered_map>

namespace stoker::expr {
namespace {

/// Where nodes stand. Most programs that are not traced have a few only.
class Positions {
 public:
  [[nodiscard]] const std::uint32_t* find(const Node* node) const {
    if (many_.empty()) {
      for (const auto& [known, position] : few_)
        if (known == node) return &position;
      return nullptr;
    }
    const auto known = many_.find(node);
    return known == many_.end() ? nullptr : &known->second;
  }
  void add(const Node* node, std::uint32_t position) {
    if (many_.empty() && few_.size() < 24) {
      few_.emplace_back(node, position);
      return;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    many_.emplace(node, position);
  }

 private:
  boost::container::small_vector<std::pair<const Node*, std::uint32_t>, 24> few_;
  std::unordered_map<const Node*, std::uint32_t> many_;
};

const Op& parameter_op() {
  static constinit NamedOp op{"parameter"};
  return op;
}

}  // namespace

Extracted extract(std::span<const Value> results) {
  Extracted made;
  auto& places = made.places_;
  Positions positions;
  struct Visit {
    std::shared_ptr<Node> node;
    Values inputs;
    std::size_t next = 0;
  };
  // By hand, because a chain may be longer than the stack is deep.
  boost::container::small_vector<Visit, 4> path;
  const auto add = [&](std::shared_ptr<Node> node, bool leaf) -> Extracted::Place& {
    positions.add(node.get(), static_cast<std::uint32_t>(places.size()));
    return places.emplace_back(Extracted::Place{std::move(node), {}, leaf});
  };
  const auto enter = [&](const std::shared_ptr<Node>& node) {
    if (positions.find(node.get())) return;
    if (!node->is_known() && node->op().kind != OpKind::parameter) {
      Node::State state = node->state();
      if (state.buffers.empty()) {
        path.push_back({node, std::move(state.inputs), 0});
        return;
      }
    }
    add(node, true);
    made.buffers_.push_back(node->buffers());
  };
  const auto visit = [&](const Value& root) {
    enter(root.node());
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next < top.inputs.size()) {
        const Value& input = top.inputs[top.next++];
        // `top` may move, and its inputs with it.
        enter(std::shared_ptr<Node>{input.node()});
        continue;
      }
      Visit done = std::move(path.back());
      path.pop_back();
      if (positions.find(done.node.get())) continue;
      Extracted::Place& place = add(std::move(done.node), false);
      for (const Value& input : done.inputs)
        place.inputs.push_back({*positions.find(input.node().get()), input.output()});
    }
  };
  for (const Value& result : results) {
    visit(result);
    made.results_.push_back({*positions.find(result.node().get()), result.output()});
  }
  return made;
}

namespace {
const Attributes no_attributes;
}  // namespace

InstructionView Extracted::view_of(const Place& place) {
  const Node& node = *place.node;
  if (place.leaf) return {parameter_op(), {}, node.specs(), no_attributes, nullptr};
  return {node.op(), place.inputs, node.specs(), node.attributes(), node.payload().get()};
}

std::string Extracted::key() const {
  std::string key;
  key.reserve(64 * places_.size());
  append_key(key, places_.size());
  for (const Place& place : places_) append_key(key, view_of(place));
  append_key(key, results_.size());
  for (const Ref result : results_) append_key(key, result);
  return key;
}

Program Extracted::program() const {
  Program program;
  program.code.reserve(places_.size());
  for (const Place& place : places_) {
    const InstructionView seen = view_of(place);
    if (place.leaf) program.parameters.push_back(static_cast<std::uint32_t>(program.code.size()));
    program.code.push_back({&seen.op,
                            seen.attributes,
                            place.inputs,
                            {seen.specs.begin(), seen.specs.end()},
                            place.leaf ? nullptr : place.node->payload(),
                            static_cast<std::uint32_t>(program.code.size())});
  }
  program.results.assign(results_.begin(), results_.end());
  return program;
}

std::vector<Value> Extracted::leaves() const {
  std::vector<Value> leaves;
  for (const Place& place : places_)
    if (place.leaf) leaves.emplace_back(place.node);
  return leaves;
}

}  // namespace stoker::expr
