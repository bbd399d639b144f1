#include "stoker/api/nn/graph/block.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace stoker::nn {
namespace {

/// The outputs of each application, by its place in the block.
using Applied = std::map<const void*, std::vector<Node>>;

/// All of `outputs` applied again; `applied` holds the inputs. Deep graphs are no reason to run out
/// of stack.
void apply_again(std::span<const Node> outputs, Applied& applied) {
  std::vector<Node> open{outputs.begin(), outputs.end()};
  while (!open.empty()) {
    const Node node = open.back();
    if (applied.contains(node.place())) {
      open.pop_back();
      continue;
    }
    if (node.is_input())
      throw Error{
          "block",
          ErrorCode::invalid_argument,
          "it has the input '" + node.input_name() + "' of a network, which it is not given",
          {{"input", node.input_name()}}};
    std::vector<Node> inputs;
    for (const Node& input : node.inputs()) {
      const auto found = applied.find(input.place());
      if (found == applied.end())
        open.push_back(input);
      else
        inputs.push_back(found->second[input.output()]);
    }
    if (inputs.size() < node.inputs().size()) continue;
    applied[node.place()] = node.layer().outputs(std::move(inputs));
    open.pop_back();
  }
}

}  // namespace

Block::Block(const std::function<Node(const Node& x)>& build)
    : Block{1, [&](std::span<const Node> inputs) { return std::vector<Node>{build(inputs[0])}; }} {}

Block::Block(std::size_t inputs,
             const std::function<std::vector<Node>(std::span<const Node> inputs)>& build) {
  for (std::size_t i = 0; i < inputs; ++i)
    inputs_.push_back(input("input " + std::to_string(i) + " of a block", {}));
  outputs_ = build(inputs_);
  const bool none =
      outputs_.empty() || std::ranges::any_of(outputs_, [](const Node& one) { return !one; });
  if (none)
    throw Error{"block", ErrorCode::invalid_argument, "a result of the function is no node"};
  (void)this->outputs(inputs_);  // what cannot be applied is said now
}

Node Block::operator()(const Node& x) const { return (*this)(std::span<const Node>{&x, 1}); }

Node Block::operator()(std::span<const Node> inputs) const { return outputs(inputs)[0]; }

std::vector<Node> Block::outputs(std::span<const Node> inputs) const {
  if (inputs.size() != inputs_.size())
    throw Error{"block",
                ErrorCode::arity_mismatch,
                "expected " + std::to_string(inputs_.size()) + " inputs, got " +
                    std::to_string(inputs.size()),
                {{"got", std::to_string(inputs.size())}}};
  Applied applied;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) throw Error{"block", ErrorCode::invalid_argument, "an input is no node"};
    applied[inputs_[i].place()] = {inputs[i]};
  }
  apply_again(outputs_, applied);
  std::vector<Node> made;
  for (const Node& output : outputs_) made.push_back(applied.at(output.place())[output.output()]);
  return made;
}

}  // namespace stoker::nn
