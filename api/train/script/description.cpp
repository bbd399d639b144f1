#include "stoker/api/train/script/description.hpp"

#include <set>

namespace stoker::nn::script {
namespace {

void add_places(const Node& node, std::set<const void*>& places) {
  // Networks are deep, so what is left to see is kept beside the stack.
  std::vector<Node> open{node};
  while (!open.empty()) {
    const Node one = open.back();
    open.pop_back();
    if (!places.insert(one.place()).second || one.is_input()) continue;
    open.insert(open.end(), one.inputs().begin(), one.inputs().end());
  }
}

bool fits(const Node& node) {
  try {
    const Network alone{node};
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Error Place::placed(const Error& error) const {
  if (!error.detail("script").empty()) return error;
  std::vector<Detail> details;
  for (const Detail& one : error.details())
    // A reader's line is that of its file.
    details.push_back({one.key == "line" ? "file_line" : one.key, one.value});
  details.push_back({"script", script});
  if (line > 0) details.push_back({"line", std::to_string(line)});
  return {std::string{error.op()}, error.code(), std::string{error.reason()}, std::move(details)};
}

const Dataset& DataRecipe::read() {
  if (!read_) read_ = place_.call(make_);
  return *read_;
}

Network Description::network(const ModelRecipe& model) const {
  try {
    if (model.names.empty()) return Network{model.outputs};
    std::vector<Network::NamedOutput> named;
    for (std::size_t i = 0; i < model.names.size(); ++i)
      named.push_back({model.names[i], model.outputs[i]});
    return Network{std::move(named)};
  } catch (const std::exception&) {
    const Error error = error_from_current_exception("nn");
    // Layers have their names from the whole network, so the error is that of the whole, and the
    // line that of the first layer that does not even fit alone.
    std::set<const void*> used;
    for (const Node& output : model.outputs) add_places(output, used);
    for (const NotedNode& one : nodes)
      if (used.contains(one.node.place()) && !one.node.is_input() && !fits(one.node))
        throw one.place.placed(error);
    throw model.place.placed(error);
  }
}

}  // namespace stoker::nn::script
