#include "onnx_info.hpp"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stoker/api/command_line/one_line.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

using onnx::Description;
using FirstAxis = onnx::Description::FirstAxis;

/// How many nodes that are not supported a person is shown.
constexpr std::size_t most_shown = 64;

std::string domain_name(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : one_line(domain);
}

std::string operator_name(const Description::OperatorUse& use) {
  return use.domain.empty() ? one_line(use.name) : one_line(use.domain + '.' + use.name);
}

void add_line(std::ostream& to, const char* what, const std::string& text) {
  if (!text.empty()) to << std::left << std::setw(12) << what << text << '\n';
}

void add_values(std::ostream& to, const std::vector<std::pair<std::string, std::string>>& rows) {
  constexpr std::size_t widest = 64;  // a longer name moves its own line only
  std::size_t width = 0;
  for (const auto& [name, text] : rows)
    if (name.size() <= widest) width = std::max(width, name.size());
  for (const auto& [name, text] : rows)
    to << "  " << std::left << std::setw(static_cast<int>(width)) << name << "  " << text << '\n';
}

std::string text_of(const FirstAxis& axis) {
  switch (axis.kind) {
    case FirstAxis::Kind::free:
      return axis.symbol.empty() ? "free" : "free (" + one_line(axis.symbol) + ')';
    case FirstAxis::Kind::fixed: return "fixed (" + std::to_string(axis.extent) + ')';
    case FirstAxis::Kind::unlike: break;
  }
  return "not alike";
}

void add_head(std::ostream& text, const Description& model) {
  const onnx::ModelMetadata& metadata = model.metadata;
  std::string producer = metadata.producer_name;
  if (!metadata.producer_version.empty())
    producer += (producer.empty() ? "" : " ") + metadata.producer_version;
  add_line(text, "producer", one_line(producer));
  std::string versions = "IR " + std::to_string(metadata.ir_version);
  for (const onnx::OpsetImport& opset : metadata.opsets)
    versions += ", " + domain_name(opset.domain) + ' ' + std::to_string(opset.version);
  add_line(text, "versions", versions);
  add_line(text, "domain", one_line(metadata.domain));
  if (metadata.model_version != 0)
    add_line(text, "model", "version " + std::to_string(metadata.model_version));
  add_line(text, "graph", one_line(model.graph));
  add_line(text, "doc", one_line(metadata.doc));
  for (const auto& [key, value] : metadata.properties)
    add_line(text, "metadata", one_line(key) + " = " + one_line(value));
}

void add_unsupported(std::ostream& text, const Description& model) {
  if (model.unsupported.empty()) {
    text << "all nodes are supported\n";
    return;
  }
  text << "not supported: " << model.unsupported.size() << " of " << count_of(model.nodes, "node")
       << '\n';
  std::size_t shown = 0;
  for (const Description::UnsupportedNode& node : model.unsupported) {
    if (shown++ == most_shown) {
      text << "  and " << model.unsupported.size() - most_shown << " more\n";
      break;
    }
    text << "  " << one_line(node.place) << ", domain '" << domain_name(node.domain) << "', opset "
         << node.opset << ": " << one_line(node.why) << '\n';
  }
}

void add_precision(std::ostream& text, const onnx::PrecisionReport& report) {
  const std::string name{to_string(report.precision)};
  text << "in " << name << ": " << count_of(report.narrowed, "node") << ", "
       << count_of(report.weights, "constant") << " of " << count_of(report.weight_bytes, "byte")
       << '\n';
  text << "kept in f32:" << (report.kept.empty() ? " nothing" : "") << '\n';
  for (const onnx::PrecisionReport::Kept& kept : report.kept)
    text << "  " << one_line(kept.name) << ", " << count_of(kept.nodes, "node") << ": " << kept.why
         << " (" << one_line(kept.first) << ")\n";
}

nlohmann::json precision_json(const onnx::PrecisionReport& report) {
  nlohmann::json kept = nlohmann::json::array();
  for (const onnx::PrecisionReport::Kept& one : report.kept)
    kept.push_back({{"operator", printable(one.name)},
                    {"why", one.why},
                    {"nodes", one.nodes},
                    {"first", one.first}});
  return {{"precision", to_string(report.precision)},
          {"nodes", report.narrowed},
          {"constants", report.weights},
          {"constant_bytes", report.weight_bytes},
          {"kept", std::move(kept)}};
}

nlohmann::json dims_json(const onnx::ValueType& type) {
  if (!type.dims) return nullptr;
  nlohmann::json dims = nlohmann::json::array();
  for (const onnx::Dimension& one : *type.dims) {
    if (one.extent)
      dims.push_back(*one.extent);
    else if (one.symbol.empty())
      dims.push_back(nullptr);
    else
      dims.push_back(printable(one.symbol));
  }
  return dims;
}

nlohmann::json value_json(const onnx::ValueInfo& value) {
  nlohmann::json made{{"name", printable(value.name)}, {"type", value.type.to_string()}};
  if (value.type.kind == onnx::ValueKind::tensor) {
    made["element"] = onnx::to_string(value.type.element);
    made["dims"] = dims_json(value.type);
  }
  if (!value.doc.empty()) made["doc"] = printable(value.doc);
  return made;
}

nlohmann::json axis_json(const FirstAxis& axis) {
  switch (axis.kind) {
    case FirstAxis::Kind::free:
      if (axis.symbol.empty()) return {{"kind", "free"}};
      return {{"kind", "free"}, {"symbol", printable(axis.symbol)}};
    case FirstAxis::Kind::fixed: return {{"kind", "fixed"}, {"extent", axis.extent}};
    case FirstAxis::Kind::unlike: break;
  }
  return {{"kind", "unlike"}};
}

}  // namespace

std::string to_text(const Description& model) {
  std::ostringstream text;
  add_head(text, model);
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Description::Input& input : model.inputs)
    if (!input.has_default)
      rows.emplace_back(one_line(input.value.name), one_line(input.value.type.to_string()));
  text << "inputs\n";
  add_values(text, rows);
  if (rows.size() < model.inputs.size())
    text << "  and " << model.inputs.size() - rows.size() << " that have a default\n";
  rows.clear();
  for (const onnx::ValueInfo& output : model.outputs)
    rows.emplace_back(one_line(output.name), one_line(output.type.to_string()));
  text << "outputs\n";
  add_values(text, rows);
  text << "first axis of the inputs: " << text_of(model.first_axis) << '\n';
  text << "parameters: " << count_of(model.parameters.tensors, "tensor") << ", "
       << count_of(model.parameters.elements, "element") << ", "
       << count_of(model.parameters.bytes, "byte") << '\n';
  text << "operators: " << model.operators.size() << ", in " << count_of(model.nodes, "node")
       << '\n';
  rows.clear();
  for (const Description::OperatorUse& use : model.operators)
    rows.emplace_back(
        operator_name(use) + (use.version > 0 ? " " + std::to_string(use.version) : ""),
        std::to_string(use.count));
  add_values(text, rows);
  add_unsupported(text, model);
  if (model.precision) add_precision(text, *model.precision);
  return text.str();
}

nlohmann::json to_json(const Description& model) {
  const onnx::ModelMetadata& metadata = model.metadata;
  nlohmann::json opsets = nlohmann::json::object();
  for (const onnx::OpsetImport& opset : metadata.opsets)
    opsets[opset.domain.empty() ? "ai.onnx" : printable(opset.domain)] = opset.version;
  nlohmann::json properties = nlohmann::json::object();
  for (const auto& [key, value] : metadata.properties)
    properties[printable(key)] = printable(value);
  nlohmann::json inputs = nlohmann::json::array();
  for (const Description::Input& input : model.inputs) {
    inputs.push_back(value_json(input.value));
    inputs.back()["has_default"] = input.has_default;
  }
  nlohmann::json outputs = nlohmann::json::array();
  for (const onnx::ValueInfo& output : model.outputs) outputs.push_back(value_json(output));
  nlohmann::json operators = nlohmann::json::array();
  for (const Description::OperatorUse& use : model.operators)
    operators.push_back({{"domain", use.domain.empty() ? "ai.onnx" : printable(use.domain)},
                         {"name", printable(use.name)},
                         {"version", use.version},
                         {"count", use.count}});
  nlohmann::json unsupported = nlohmann::json::array();
  for (const Description::UnsupportedNode& node : model.unsupported)
    unsupported.push_back({{"node", node.place},
                           {"operator", printable(node.name)},
                           {"domain", node.domain.empty() ? "ai.onnx" : printable(node.domain)},
                           {"opset", node.opset},
                           {"why", printable(node.why)}});
  nlohmann::json made{{"producer", printable(metadata.producer_name)},
                      {"producer_version", printable(metadata.producer_version)},
                      {"ir_version", metadata.ir_version},
                      {"opsets", std::move(opsets)},
                      {"domain", printable(metadata.domain)},
                      {"model_version", metadata.model_version},
                      {"graph", printable(model.graph)},
                      {"doc", printable(metadata.doc)},
                      {"metadata", std::move(properties)},
                      {"inputs", std::move(inputs)},
                      {"outputs", std::move(outputs)},
                      {"first_axis", axis_json(model.first_axis)},
                      {"parameters",
                       {{"tensors", model.parameters.tensors},
                        {"elements", model.parameters.elements},
                        {"bytes", model.parameters.bytes}}},
                      {"nodes", model.nodes},
                      {"operators", std::move(operators)},
                      {"unsupported", std::move(unsupported)}};
  if (model.precision) made["precision"] = precision_json(*model.precision);
  return made;
}

}  // namespace stoker::command_line
