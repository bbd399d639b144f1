#include "stoker/api/nn/graph/node.hpp"

#include <utility>

namespace stoker::nn {

struct Layer::Data {
  std::shared_ptr<const LayerDefinition> own;  // null: in the table
  const LayerDefinition* definition;
  Params given;
  ParamSet options;
  std::string name;
};

struct Node::Place {
  std::string input;  // of an input
  TensorSpec row;
  bool optional = false;
  std::optional<Layer> layer;  // of others
  std::vector<Node> inputs;
};

namespace {

Params with(Params more, std::initializer_list<Params::Entry> options) {
  Params all{options};
  for (const Params::Entry& entry : more.entries()) all.set(entry.name, entry.value);
  return all;
}

}  // namespace

Layer::Layer(std::string_view kind, const Params& options, std::string name) {
  const LayerDefinition& definition = layer_table().find(kind);
  // The definition lives as long as the process, and so does the schema of the options.
  data_ = std::make_shared<const Data>(Data{
      nullptr, &definition, options,
      ParamSet::resolve(definition.name, definition.options, options).value(), std::move(name)});
}

Layer::Layer(LayerDefinition own, const Params& options, std::string name) {
  auto kept = std::make_shared<const LayerDefinition>(std::move(own));
  if (!kept->apply)
    throw Error{"layer",
                ErrorCode::invalid_argument,
                "a layer that computes nothing",
                {{"kind", kept->name}}};
  ParamSet resolved = ParamSet::resolve(kept->name, kept->options, options).value();
  data_ = std::make_shared<const Data>(
      Data{kept, kept.get(), options, std::move(resolved), std::move(name)});
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

Node or_else(const Node& a, const Node& b, std::string name) {
  return Layer{"or_else", {}, std::move(name)}(std::vector<Node>{a, b});
}

Node input(const Shape& row, DType dtype) { return input("input", row, dtype); }

Node function(std::vector<Node> inputs, std::function<Tensor(std::span<const Tensor>)> compute,
              std::string name) {
  LayerDefinition own{.name = "function",
                      .summary = "a function of the program's",
                      .least_inputs = inputs.size(),
                      .most_inputs = inputs.size(),
                      .apply = [compute = std::move(compute)](LayerCall& call) {
                        return std::vector<Tensor>{compute(call.inputs())};
                      }};
  return Layer{std::move(own), {}, std::move(name)}(std::move(inputs));
}

Node constant(const Tensor& value, std::string name) {
  LayerDefinition own{.name = "constant",
                      .summary = "a tensor of the program's",
                      .least_inputs = 0,
                      .most_inputs = 0,
                      .apply = [value](LayerCall&) { return std::vector<Tensor>{value}; }};
  return Layer{std::move(own), {}, std::move(name)}(std::vector<Node>{});
}

Node dense(const Node& x, std::int64_t units, Params more, std::string name) {
  return Layer{"dense", with(std::move(more), {{"units", units}}), std::move(name)}(x);
}

Node conv(const Node& x, std::int64_t units, Params more, std::string name) {
  return Layer{"conv", with(std::move(more), {{"units", units}}), std::move(name)}(x);
}

Node conv_transpose(const Node& x, std::int64_t units, Params more, std::string name) {
  return Layer{"conv_transpose", with(std::move(more), {{"units", units}}), std::move(name)}(x);
}

Node bilinear(const Node& a, const Node& b, std::int64_t units, Params more, std::string name) {
  return Layer{"bilinear", with(std::move(more), {{"units", units}}),
               std::move(name)}(std::vector<Node>{a, b});
}

Node embedding(const Node& x, std::int64_t vocabulary, std::int64_t size, Params more,
               std::string name) {
  return Layer{"embedding",
               with(std::move(more), {{"vocab_size", vocabulary}, {"embedding_size", size}}),
               std::move(name)}(x);
}

Node activation(const Node& x, const std::string& function, std::string name) {
  return Layer{"activation", {{"function", function}}, std::move(name)}(x);
}

Node dropout(const Node& x, double rate, std::string name) {
  return Layer{"dropout", {{"rate", rate}}, std::move(name)}(x);
}

Node flatten(const Node& x, std::string name) { return Layer{"flatten", {}, std::move(name)}(x); }

Node reshape(const Node& x, std::vector<std::int64_t> row, std::string name) {
  return Layer{"reshape", {{"shape", std::move(row)}}, std::move(name)}(x);
}

Node max_pool(const Node& x, std::vector<std::int64_t> kernel_size, Params more, std::string name) {
  return Layer{"max_pool", with(std::move(more), {{"kernel_size", std::move(kernel_size)}}),
               std::move(name)}(x);
}

Node resize(const Node& x, std::vector<std::int64_t> shape, Params more, std::string name) {
  return Layer{"resize", with(std::move(more), {{"shape", std::move(shape)}}), std::move(name)}(x);
}

Node batch_norm(const Node& x, Params more, std::string name) {
  return Layer{"batch_norm", more, std::move(name)}(x);
}

Node layer_norm(const Node& x, Params more, std::string name) {
  return Layer{"layer_norm", more, std::move(name)}(x);
}

Node concatenate(std::vector<Node> inputs, std::int64_t axis, std::string name) {
  return Layer{"concatenate", {{"axis", axis}}, std::move(name)}(std::move(inputs));
}

std::vector<Node> split(const Node& x, std::vector<std::int64_t> splits, std::int64_t axis,
                        std::string name) {
  return Layer{"split", {{"splits", std::move(splits)}, {"axis", axis}}, std::move(name)}.outputs(
      {x});
}

Node add(std::vector<Node> inputs, std::string name) {
  return Layer{"add", {}, std::move(name)}(std::move(inputs));
}

}  // namespace stoker::nn
