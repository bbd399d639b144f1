#include "stoker/api/nn/graph/node.hpp"

#include <new>
#include <utility>

#include "stoker/api/nn/graph/layer_kinds.hpp"

namespace stoker::nn {

struct Layer::Data {
  std::shared_ptr<const LayerDefinition> own;  // null: in the table
  const LayerDefinition* definition;
  Params given;
  ParamSet options;
  std::string name;
};

struct Node::Place {
  /// A chain of any length goes in a loop: one call within another would run out of stack.
  ~Place() {
    std::vector<Node> going = std::move(inputs);
    while (!going.empty()) {
      const Node last = std::move(going.back());
      going.pop_back();
      if (last.place_.use_count() > 1) continue;
      const std::vector<Node>& before = last.place_->inputs;
      try {  // held here, they do not go with the last one
        going.insert(going.end(), before.begin(), before.end());
      } catch (const std::bad_alloc&) {  // then one within another
      }
    }
  }

  std::string input;  // of an input
  TensorSpec row;
  bool optional = false;
  std::optional<Layer> layer;  // of others
  std::vector<Node> inputs;
};

Layer::Layer(const Named& kind, std::string name) {
  const LayerDefinition& definition = layer_kind(kind.name);
  Params given = with_current_names(definition, kind.options);
  // The definition lives as long as the process, and so does the schema of the options.
  ParamSet options = ParamSet::resolve(definition.name, definition.options, given).value();
  data_ = std::make_shared<const Data>(
      Data{nullptr, &definition, std::move(given), std::move(options), std::move(name)});
}

Layer::Layer(LayerDefinition own, std::string name)
    : Layer{of_own(std::move(own), {}, std::move(name))} {}

Layer Layer::of_own(LayerDefinition own, const Params& options, std::string name) {
  auto kept = std::make_shared<const LayerDefinition>(std::move(own));
  check(*kept);
  ParamSet resolved = ParamSet::resolve(kept->name, kept->options, options).value();
  return Layer{std::make_shared<const Data>(
      Data{kept, kept.get(), options, std::move(resolved), std::move(name)})};
}

Layer Layer::renamed(std::string name) const {
  if (in_table()) return Layer{Named{kind(), given()}, std::move(name)};
  return of_own(definition(), given(), std::move(name));
}

Layer Layer::redefined(LayerDefinition definition) const {
  return of_own(std::move(definition), given(), name());
}

Node Layer::operator()(const Node& x) const { return (*this)(std::vector<Node>{x}); }

Node Layer::operator()(std::vector<Node> inputs) const { return outputs(std::move(inputs)).at(0); }

std::vector<Node> Layer::outputs(std::vector<Node> inputs) const {
  const LayerDefinition& kind = definition();
  const std::string who = name().empty() ? kind.name : name();
  for (const Node& one : inputs)
    if (!one)
      throw Error{who, ErrorCode::invalid_argument, "an input is no node", {{"layer", who}}};
  if (inputs.size() < kind.least_inputs || inputs.size() > kind.most_inputs)
    throw Error{who,
                ErrorCode::arity_mismatch,
                "expected " + std::to_string(kind.least_inputs) +
                    (kind.most_inputs == kind.least_inputs ? ""
                     : kind.most_inputs > 1000             ? " or more"
                                               : " to " + std::to_string(kind.most_inputs)) +
                    " inputs, got " + std::to_string(inputs.size()),
                {{"layer", who}, {"got", std::to_string(inputs.size())}}};
  const auto place =
      std::make_shared<const Node::Place>(Node::Place{{}, {}, false, *this, std::move(inputs)});
  std::vector<Node> made;
  const std::size_t count = kind.count_outputs ? kind.count_outputs(options()) : kind.outputs;
  if (count == 0)
    throw Error{who,
                ErrorCode::invalid_argument,
                "its options say that it has no outputs, expected at least 1",
                {{"layer", who}}};
  for (std::size_t i = 0; i < count; ++i) made.push_back(Node{place, i});
  return made;
}

const std::string& Layer::kind() const noexcept { return data_->definition->name; }
const std::string& Layer::name() const noexcept { return data_->name; }
const LayerDefinition& Layer::definition() const noexcept { return *data_->definition; }
const ParamSet& Layer::options() const noexcept { return data_->options; }
const Params& Layer::given() const noexcept { return data_->given; }
bool Layer::in_table() const noexcept { return !data_->own; }

bool Node::is_input() const noexcept { return place_ && !place_->layer; }
const std::string& Node::input_name() const { return place_->input; }
bool Node::is_optional() const noexcept { return place_ && place_->optional; }
const TensorSpec& Node::row() const { return place_->row; }
const Layer& Node::layer() const { return place_->layer.value(); }
std::span<const Node> Node::inputs() const { return place_->inputs; }

Node input(std::string name, const Shape& row, DType dtype) {
  if (name.empty()) throw Error{"input", ErrorCode::invalid_argument, "an input needs a name"};
  return Node{std::make_shared<const Node::Place>(
                  Node::Place{std::move(name), {dtype, row}, false, std::nullopt, {}}),
              0};
}

Node optional_input(std::string name, const Shape& row, DType dtype) {
  if (name.empty()) throw Error{"input", ErrorCode::invalid_argument, "an input needs a name"};
  return Node{std::make_shared<const Node::Place>(
                  Node::Place{std::move(name), {dtype, row}, true, std::nullopt, {}}),
              0};
}

Node input(const Shape& row, DType dtype) { return input("input", row, dtype); }

Node function(std::vector<Node> inputs, std::function<Tensor(std::span<const Tensor>)> compute,
              std::string name) {
  if (!compute)
    throw Error{"function", ErrorCode::invalid_argument, "expected a function, got an empty one"};
  LayerDefinition own{.name = "function",
                      .summary = "a function of the program's",
                      .least_inputs = inputs.size(),
                      .most_inputs = inputs.size(),
                      .apply = [compute = std::move(compute)](LayerCall& call) {
                        return std::vector<Tensor>{compute(call.inputs())};
                      }};
  return Layer{std::move(own), std::move(name)}(std::move(inputs));
}

Node constant(const Tensor& value, std::string name) {
  LayerDefinition own{.name = "constant",
                      .summary = "a tensor of the program's",
                      .least_inputs = 0,
                      .most_inputs = 0,
                      .apply = [value](LayerCall&) { return std::vector<Tensor>{value}; }};
  return Layer{std::move(own), std::move(name)}(std::vector<Node>{});
}

}  // namespace stoker::nn
