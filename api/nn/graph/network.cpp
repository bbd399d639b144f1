#include "stoker/api/nn/graph/network.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "stoker/api/nn/graph/initializer.hpp"
#include "stoker/api/nn/graph/network_data.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/shape_queries.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn {
namespace detail {

std::string NetworkData::name_of(const Source& source) const {
  if (source.input) return inputs[source.index].name;
  const std::string& name = infos[steps[source.index].layer].name;
  return source.output == 0 ? name : name + ":" + std::to_string(source.output);
}

std::vector<Tensor> NetworkData::gather(const Step& step, std::span<const Tensor> inputs,
                                        const std::vector<std::vector<Tensor>>& made) {
  std::vector<Tensor> given;
  for (const Source& source : step.inputs)
    given.push_back(source.input ? inputs[source.index] : made[source.index][source.output]);
  return given;
}

std::vector<Tensor> NetworkData::apply(const Layer& layer, LayerCall& call) {
  std::vector<Tensor> made = layer.definition().apply(call);
  const LayerDefinition& kind = layer.definition();
  const std::size_t count = kind.count_outputs ? kind.count_outputs(layer.options()) : kind.outputs;
  if (made.size() != count)
    throw Error{kind.name,
                ErrorCode::invalid_argument,
                "it made another number of outputs than it says",
                {{"said", std::to_string(count)}, {"made", std::to_string(made.size())}}};
  return made;
}

void rethrow_for(const std::string& name, const std::string& kind, const Error& error) {
  throw Error{name, error.code(),
              "layer '" + name + "' (" + kind + "): " + std::string{error.reason()}, [&] {
                std::vector<Detail> details{error.details().begin(), error.details().end()};
                details.push_back({"layer", name});
                details.push_back({"kind", kind});
                return details;
              }()};
}

}  // namespace detail

namespace {

using detail::NetworkData;
using detail::rethrow_for;

// Two batches that no layer's own extents are likely to be.
constexpr std::int64_t some_batch = 5;
constexpr std::int64_t other_batch = 7;

Shape with_batch(const Shape& row, std::int64_t batch) {
  std::vector<std::int64_t> extents{batch};
  extents.insert(extents.end(), row.begin(), row.end());
  return Shape::make(extents, "input");
}

/// What two runs with different batches have in common.
RowSpec row_of(const TensorSpec& one, const TensorSpec& other) {
  RowSpec row{one.dtype, one.shape, false};
  if (one.shape.rank() == 0 || one.shape[0] == other.shape[0]) return row;
  row.batched = true;
  std::vector<std::int64_t> rest{one.shape.begin() + 1, one.shape.end()};
  row.shape = Shape::make(rest, "network");
  return row;
}

Tensor placeholder(const TensorSpec& spec) {
  // A tensor of zeros that nobody computes.
  return zeros(spec.shape, spec.dtype);
}

class Builder {
 public:
  explicit Builder(std::vector<Network::NamedOutput> outputs, bool names_given)
      : data_{std::make_shared<NetworkData>()} {
    data_->names_given = names_given;
    if (outputs.empty())
      throw Error{"network", ErrorCode::invalid_argument, "a network needs an output"};
    for (const auto& [name, output] : outputs) {
      if (!output) throw Error{"network", ErrorCode::invalid_argument, "an output is no node"};
      data_->outputs.push_back(visit(output));
      data_->output_names.push_back(name);
    }
    if (data_->steps.empty())
      throw Error{"network", ErrorCode::invalid_argument, "a network of inputs only has no layer"};
    name_layers();
    name_outputs();
    infer();
  }
  std::shared_ptr<const NetworkData> take() { return std::move(data_); }

 private:
  using Source = NetworkData::Source;

  /// Inputs before what needs them; deep graphs are no reason to run out of stack.
  Source visit(const Node& wanted) {
    std::vector<Node> open{wanted};
    while (!open.empty()) {
      const Node node = open.back();
      if (places_.contains(node.place())) {
        open.pop_back();
        continue;
      }
      if (node.is_input()) {
        add_input(node);
        open.pop_back();
        continue;
      }
      bool ready = true;
      const auto inputs = node.inputs();
      for (std::size_t i = inputs.size(); i-- > 0;)
        if (!places_.contains(inputs[i].place())) {
          open.push_back(inputs[i]);
          ready = false;
        }
      if (!ready) continue;
      add_step(node);
      open.pop_back();
    }
    return source_of(wanted);
  }

  Source source_of(const Node& node) const {
    Source source = places_.at(node.place());
    source.output = static_cast<std::uint32_t>(node.output());
    return source;
  }

  void add_input(const Node& node) {
    for (const Network::Input& known : data_->inputs)
      if (known.name == node.input_name())
        throw Error{"network",
                    ErrorCode::already_exists,
                    "two inputs are called '" + known.name + "'",
                    {{"input", known.name}}};
    places_[node.place()] = {true, static_cast<std::uint32_t>(data_->inputs.size()), 0};
    data_->inputs.push_back(
        {node.input_name(), {node.row().dtype, node.row().shape, true}, node.is_optional()});
    data_->input_nodes.push_back(node);
  }

  void add_step(const Node& node) {
    std::uint32_t number = 0;
    while (number < data_->layers.size() && !(data_->layers[number] == node.layer())) ++number;
    if (number == data_->layers.size()) {
      data_->layers.push_back(node.layer());
      data_->infos.push_back({.name = node.layer().name(), .kind = node.layer().kind()});
    } else {
      ++data_->infos[number].applications;
    }
    NetworkData::Step step{number, {}, node};
    for (const Node& input : node.inputs()) step.inputs.push_back(source_of(input));
    places_[node.place()] = {false, static_cast<std::uint32_t>(data_->steps.size()), 0};
    data_->steps.push_back(std::move(step));
  }

  /// Names that were given stay; others are the kind and a number that is still free.
  void name_layers() {
    std::set<std::string> taken;
    for (const Network::Input& input : data_->inputs) taken.insert(input.name);
    for (const LayerInfo& info : data_->infos) {
      if (info.name.empty()) continue;
      if (info.name.find('.') != std::string::npos)
        throw Error{"network",
                    ErrorCode::invalid_argument,
                    "a layer's name has no dot: '" + info.name + "'",
                    {{"layer", info.name}}};
      if (!taken.insert(info.name).second)
        throw Error{"network",
                    ErrorCode::already_exists,
                    "two layers or inputs are called '" + info.name + "'",
                    {{"layer", info.name}}};
    }
    std::map<std::string, int> next;
    for (LayerInfo& info : data_->infos)
      while (info.name.empty()) {
        const std::string name = info.kind + "_" + std::to_string(next[info.kind]++);
        if (taken.insert(name).second) info.name = name;
      }
  }

  void name_outputs() {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < data_->outputs.size(); ++i) {
      std::string& name = data_->output_names[i];
      if (!data_->names_given) {
        name = data_->name_of(data_->outputs[i]);
        continue;
      }
      if (name.empty())
        throw Error{"network", ErrorCode::invalid_argument, "an output's name is empty"};
      if (!taken.insert(name).second)
        throw Error{"network",
                    ErrorCode::already_exists,
                    "two outputs are called '" + name + "'",
                    {{"output", name}}};
    }
  }

  void infer() {
    const auto some = trial(some_batch);
    const auto other = trial(other_batch);
    for (std::size_t i = 0; i < data_->steps.size(); ++i) {
      LayerInfo& info = data_->infos[data_->steps[i].layer];
      if (!info.outputs.empty()) continue;
      for (std::size_t o = 0; o < some[i].size(); ++o)
        info.outputs.push_back(row_of(some[i][o].spec(), other[i][o].spec()));
      describe(i, info);
    }
    for (const Source& output : data_->outputs)
      data_->output_rows.push_back(output.input
                                       ? data_->inputs[output.index].row
                                       : row_of(some[output.index][output.output].spec(),
                                                other[output.index][output.output].spec()));
  }

  void describe(std::size_t step, LayerInfo& info) const {
    for (const Params::Entry& option : data_->layers[data_->steps[step].layer].given().entries())
      info.options +=
          (info.options.empty() ? "" : ", ") + option.name + "=" + to_string(option.value);
    for (const Source& source : data_->steps[step].inputs)
      info.inputs.push_back(data_->name_of(source));
  }

  /// Every step applied to placeholders: its outputs. The first one finds the variables.
  std::vector<std::vector<Tensor>> trial(std::int64_t batch) {
    std::vector<Tensor> inputs;
    for (const Network::Input& input : data_->inputs)
      inputs.push_back(placeholder({input.row.dtype, with_batch(input.row.shape, batch)}));
    std::vector<std::vector<Tensor>> made;
    std::vector<bool> known(data_->layers.size());
    for (const NetworkData::Step& step : data_->steps) {
      const std::vector<Tensor> given = NetworkData::gather(step, inputs, made);
      LayerInfo& info = data_->infos[step.layer];
      const Layer& layer = data_->layers[step.layer];
      try {
        std::vector<VariableSpec> variables = variables_of(layer, given);
        if (!known[step.layer])
          info.variables = std::move(variables);
        else
          check_shared(info, variables);
        known[step.layer] = true;
        Variables zeros_of;
        for (const VariableSpec& variable : info.variables)
          zeros_of.emplace(variable.name, placeholder({variable.dtype, variable.shape}));
        LayerCall call{given, layer.options(), zeros_of, true, random::key(0)};
        std::vector<Tensor>& outputs = made.emplace_back();
        // Not what computes them: of many steps that would be many nodes.
        for (const Tensor& output : NetworkData::apply(layer, call))
          outputs.push_back(nn::placeholder(output.spec()));
      } catch (const Error& error) {
        rethrow_for(info.name, info.kind, error);
      }
    }
    return made;
  }

  static std::vector<VariableSpec> variables_of(const Layer& layer,
                                                std::span<const Tensor> inputs) {
    if (!layer.definition().variables) return {};
    std::vector<TensorSpec> specs;
    for (const Tensor& input : inputs) specs.push_back(input.spec());
    std::vector<VariableSpec> made = layer.definition().variables(specs, layer.options());
    std::set<std::string_view> names;
    for (const VariableSpec& one : made)
      if (!names.insert(one.name).second)
        throw Error{layer.kind(),
                    ErrorCode::invalid_argument,
                    "two of its variables are called '" + one.name + "'",
                    {{"variable", one.name}}};
    return made;
  }

  /// A layer that is applied again, or to another batch, has the same variables.
  static void check_shared(const LayerInfo& info, std::span<const VariableSpec> again) {
    for (std::size_t i = 0; i < std::max(info.variables.size(), again.size()); ++i) {
      const bool same = i < info.variables.size() && i < again.size() &&
                        info.variables[i].name == again[i].name &&
                        info.variables[i].shape == again[i].shape;
      if (same) continue;
      const auto text = [&](std::span<const VariableSpec> all) {
        return i < all.size() ? all[i].name + " " + all[i].shape.to_string() : "none";
      };
      throw Error{info.name,
                  ErrorCode::shape_mismatch,
                  "its variables depend on where it is applied: " + text(info.variables) + " and " +
                      text(again),
                  {{"first", text(info.variables)}, {"again", text(again)}}};
    }
  }

  std::shared_ptr<NetworkData> data_;
  std::map<const void*, Source> places_;
};

std::vector<Network::NamedOutput> without_names(std::vector<Node> outputs) {
  std::vector<Network::NamedOutput> made;
  for (Node& output : outputs) made.push_back({{}, std::move(output)});
  return made;
}

}  // namespace

std::string RowSpec::to_string() const {
  std::string text = batched ? "[batch" : "[";
  for (const std::int64_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text + "]";
}

std::size_t LayerInfo::parameters() const {
  std::size_t count = 0;
  for (const VariableSpec& variable : variables)
    if (variable.kind == VariableKind::parameter)
      count += static_cast<std::size_t>(variable.shape.elements());
  return count;
}

Network::Network(const Node& output) : Network{std::vector<Node>{output}} {}
Network::Network(std::vector<Node> outputs)
    : data_{Builder{without_names(std::move(outputs)), false}.take()} {}
Network::Network(std::vector<NamedOutput> outputs)
    : data_{Builder{std::move(outputs), true}.take()} {}

std::span<const Network::Input> Network::inputs() const noexcept { return data_->inputs; }
std::span<const RowSpec> Network::outputs() const noexcept { return data_->output_rows; }
std::span<const std::string> Network::output_names() const noexcept { return data_->output_names; }
std::span<const LayerInfo> Network::layers() const noexcept { return data_->infos; }

const LayerInfo& Network::layer(std::string_view name) const {
  std::vector<std::string_view> known;
  for (const LayerInfo& info : data_->infos) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  throw Error{"network",
              ErrorCode::not_found,
              "there is no layer '" + std::string{name} + "'" + did_you_mean(name, known),
              {{"layer", std::string{name}}}};
}

Variables Network::initialize(const Tensor& key) const {
  Variables made;
  std::uint32_t number = 0;
  for (const LayerInfo& info : data_->infos) {
    try {
      for (const VariableSpec& variable : info.variables)
        made.emplace(info.name + "." + variable.name,
                     initializer(variable.initializer)(random::fold_in(key, number++),
                                                       variable.shape, variable.dtype));
    } catch (const Error& error) {
      rethrow_for(info.name, info.kind, error);
    }
  }
  return made;
}

void Network::check(const Variables& variables) const {
  std::size_t wanted = 0;
  for (const LayerInfo& info : data_->infos)
    for (const VariableSpec& variable : info.variables) {
      ++wanted;
      const std::string name = info.name + "." + variable.name;
      const auto found = variables.find(name);
      if (found == variables.end())
        throw Error{"network",
                    ErrorCode::not_found,
                    "the variable '" + name + "' is missing",
                    {{"variable", name}}};
      if (found->second.shape() != variable.shape)
        throw Error{"network",
                    ErrorCode::shape_mismatch,
                    "the variable '" + name + "' is " + found->second.shape().to_string() +
                        ", expected " + variable.shape.to_string(),
                    {{"variable", name},
                     {"expected", variable.shape.to_string()},
                     {"got", found->second.shape().to_string()}}};
    }
  if (wanted == variables.size()) return;
  for (const auto& [name, tensor] : variables) {
    const std::size_t dot = name.find('.');
    const auto info = std::ranges::find(data_->infos, name.substr(0, dot), &LayerInfo::name);
    if (info != data_->infos.end() && dot != std::string::npos &&
        std::ranges::find(info->variables, name.substr(dot + 1), &VariableSpec::name) !=
            info->variables.end())
      continue;
    throw Error{"network",
                ErrorCode::not_found,
                "no layer has a variable '" + name + "'",
                {{"variable", name}}};
  }
}

bool Network::is_parameter(std::string_view variable) const {
  const std::size_t dot = variable.find('.');
  for (const VariableSpec& one : layer(variable.substr(0, dot)).variables)
    if (dot != std::string_view::npos && one.name == variable.substr(dot + 1))
      return one.kind == VariableKind::parameter;
  throw Error{"network",
              ErrorCode::not_found,
              "no layer has a variable '" + std::string{variable} + "'",
              {{"variable", std::string{variable}}}};
}

}  // namespace stoker::nn
