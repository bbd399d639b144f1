// A network as text: JSON that makes it again, Graphviz for people.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "stoker/api/nn/graph/network_data.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::nn {
namespace {

using detail::NetworkData;
using nlohmann::json;

constexpr int format = 1;

json source_json(const NetworkData::Source& source) {
  return json::array({source.input ? "input" : "step", source.index, source.output});
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error{"network", ErrorCode::invalid_argument, "this is no network: " + why};
}

/// Rebuilds nodes from what to_json() wrote.
class Reader {
 public:
  /// `most_outputs`: of all layers together.
  Reader(const json& text, std::size_t most_outputs) : text_{text}, outputs_left_{most_outputs} {
    if (!text.is_object() || !text.contains("format") || text["format"] != format)
      refuse("expected an object with \"format\": " + std::to_string(format));
  }

  Network network() {
    std::vector<Node> made = outputs();
    if (!text_.contains("output_names")) return Network{std::move(made)};
    const auto names = text_.at("output_names").get<std::vector<std::string>>();
    if (names.size() != made.size()) refuse("its outputs have more or fewer names");
    std::vector<Network::NamedOutput> named;
    for (std::size_t i = 0; i < made.size(); ++i) named.push_back({names[i], std::move(made[i])});
    return Network{std::move(named)};
  }

 private:
  using MakeInput = Node (*)(std::string, const Shape&, DType);

  std::vector<Node> outputs() {
    for (const json& one : text_.at("inputs"))
      inputs_.push_back(
          (one.value("optional", false) ? &optional_input : static_cast<MakeInput>(&input))(
              one.at("name").get<std::string>(), shape_of(one.at("shape")),
              dtype_named(one.at("dtype").get<std::string>())));
    for (const json& one : text_.at("layers")) {
      Named named{one.at("options").get<std::string>()};
      named.name = one.at("kind").get<std::string>();
      layers_.emplace_back(named, one.at("name").get<std::string>());
    }
    for (const json& one : text_.at("steps")) {
      std::vector<Node> given;
      for (const json& source : one.at("inputs")) given.push_back(node_at(source));
      const auto layer = static_cast<std::size_t>(integer(one.at("layer")));
      if (layer >= layers_.size()) refuse("a step of a layer that is not there");
      const LayerDefinition& kind = layers_[layer].definition();
      const std::size_t more =
          kind.count_outputs ? kind.count_outputs(layers_[layer].options()) : kind.outputs;
      if (more > outputs_left_) refuse("its layers have too many outputs");
      outputs_left_ -= more;
      steps_.push_back(layers_[layer].outputs(std::move(given)));
    }
    std::vector<Node> made;
    for (const json& source : text_.at("outputs")) made.push_back(node_at(source));
    return made;
  }

  /// Not get<>(), which takes 1e300 for an integer.
  static std::int64_t integer(const json& number) { return number.get_ref<const std::int64_t&>(); }

  static Shape shape_of(const json& list) {
    std::vector<std::int64_t> extents;
    for (const json& one : list) extents.push_back(integer(one));
    return Shape::make(extents, "network");
  }

  static DType dtype_named(const std::string& name) {
    for (std::size_t i = 0; i < dtype_count; ++i)
      if (to_string(static_cast<DType>(i)) == name) return static_cast<DType>(i);
    refuse("there is no dtype '" + name + "'");
  }

  [[nodiscard]] Node node_at(const json& source) const {
    const bool of_input = source.at(0).get<std::string>() == "input";
    const auto index = static_cast<std::size_t>(integer(source.at(1)));
    const auto output = static_cast<std::size_t>(integer(source.at(2)));
    if (of_input ? index >= inputs_.size() : index >= steps_.size())
      refuse("something reads what is not there");
    if (of_input) return inputs_[index];
    if (output >= steps_[index].size()) refuse("a layer has no such output");
    return steps_[index][output];
  }

  const json& text_;
  std::size_t outputs_left_;
  std::vector<Node> inputs_;
  std::vector<Layer> layers_;
  std::vector<std::vector<Node>> steps_;
};

}  // namespace

std::string Network::to_json() const {
  json text{{"format", format},
            {"inputs", json::array()},
            {"layers", json::array()},
            {"steps", json::array()},
            {"outputs", json::array()}};
  for (const Input& one : data_->inputs) {
    json input{{"name", one.name},
               {"dtype", std::string{to_string(one.row.dtype)}},
               {"shape", std::vector<std::int64_t>(one.row.shape.begin(), one.row.shape.end())}};
    if (one.optional) input["optional"] = true;
    text["inputs"].push_back(std::move(input));
  }
  for (std::size_t i = 0; i < data_->layers.size(); ++i) {
    const Layer& layer = data_->layers[i];
    if (!layer.in_table())
      throw Error{"network",
                  ErrorCode::unsupported,
                  "layer '" + data_->infos[i].name +
                      "' is a function of the program's: a network " + "with it cannot be written",
                  {{"layer", data_->infos[i].name}}};
    text["layers"].push_back({{"name", data_->infos[i].name},
                              {"kind", layer.kind()},
                              {"options", Named{"options", layer.given()}.text()}});
  }
  for (const NetworkData::Step& step : data_->steps) {
    json inputs = json::array();
    for (const NetworkData::Source& source : step.inputs) inputs.push_back(source_json(source));
    text["steps"].push_back({{"layer", step.layer}, {"inputs", std::move(inputs)}});
  }
  for (const NetworkData::Source& source : data_->outputs)
    text["outputs"].push_back(source_json(source));
  if (data_->names_given) text["output_names"] = data_->output_names;
  return write_json(text);
}

Network Network::from_json(std::string_view text) {
  const json parsed = parse_json(text);
  if (parsed.is_discarded()) refuse("it is not JSON");
  try {
    // A step takes more bytes of text than that for each of the outputs that others read.
    return Reader{parsed, std::max<std::size_t>(1024, text.size() / 8)}.network();
  } catch (const json::exception& error) {
    refuse(error.what());
  }
}

std::string Network::to_dot() const {
  std::string dot = "digraph network {\n  node [shape=box];\n";
  for (const Input& one : data_->inputs)
    dot += "  \"" + one.name + "\" [label=\"" + one.name + "\\n" + one.row.to_string() +
           (one.optional ? "\\noptional" : "") + "\", shape=oval];\n";
  for (const LayerInfo& info : data_->infos) {
    dot += "  \"" + info.name + "\" [label=\"" + info.name + " (" + info.kind + ")";
    for (const RowSpec& row : info.outputs) dot += "\\n" + row.to_string();
    dot += "\"];\n";
  }
  for (const NetworkData::Step& step : data_->steps)
    for (const NetworkData::Source& source : step.inputs)
      dot += "  \"" +
             (source.input ? data_->inputs[source.index].name
                           : data_->infos[data_->steps[source.index].layer].name) +
             "\" -> \"" + data_->infos[step.layer].name + "\";\n";
  return dot + "}\n";
}

}  // namespace stoker::nn
