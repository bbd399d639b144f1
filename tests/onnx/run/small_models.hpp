// Small models, built in tests without a file.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/onnx.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"

namespace stoker::onnx {

inline TensorData integers(const std::vector<std::int64_t>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(std::int64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {.type = ElementType::s64,
          .dims = {static_cast<std::int64_t>(values.size())},
          .bytes = SharedBytes::own(std::move(bytes)),
          .strings = {}};
}
inline TensorData reals(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {.type = ElementType::f32,
          .dims = {static_cast<std::int64_t>(values.size())},
          .bytes = SharedBytes::own(std::move(bytes)),
          .strings = {}};
}

inline Attribute named(std::string name, AttributeValue value) {
  return {.name = std::move(name), .value = std::move(value), .reference = {}};
}

/// A dimension: an extent or, as text, a symbol; "" is unknown.
struct Dim : Dimension {
  Dim(std::int64_t known) { extent = known; }  // NOLINT(google-explicit-constructor)
  Dim(const char* name) { symbol = name; }     // NOLINT(google-explicit-constructor)
};

class GraphBuilder {
 public:
  GraphBuilder& input(std::string name, const std::vector<Dim>& dims,
                      ElementType type = ElementType::f32) {
    graph.inputs.push_back(info(std::move(name), type, dims));
    return *this;
  }
  GraphBuilder& output(std::string name) {
    graph.outputs.push_back({.name = std::move(name), .type = {}, .doc = {}});
    return *this;
  }
  GraphBuilder& constant(std::string name, TensorData tensor) {
    graph.initializers.push_back({std::move(name), std::move(tensor)});
    return *this;
  }
  GraphBuilder& node(std::string op, std::vector<std::string> inputs,
                     std::vector<std::string> outputs, std::vector<Attribute> attributes = {},
                     std::string domain = {}) {
    Node made;
    made.op = std::move(op);
    made.domain = std::move(domain);
    made.opset = made.domain.empty() ? opset : 1;
    made.inputs = std::move(inputs);
    made.outputs = std::move(outputs);
    made.attributes = std::move(attributes);
    graph.nodes.push_back(std::move(made));
    return *this;
  }
  [[nodiscard]] Attribute as(std::string attribute) const {
    return named(std::move(attribute), std::make_shared<const Graph>(graph));
  }
  [[nodiscard]] Model load(
      const LoadOptions& options = {},
      std::vector<std::shared_ptr<const files::ByteSource>> sources = {}) const {
    auto file = std::make_shared<ModelFile>();
    file->files = std::move(sources);
    file->ir_version = 10;
    file->opsets = {{"", opset}};
    file->graph = graph;
    return onnx::load(std::move(file), options);
  }

  Graph graph;
  std::int64_t opset = 21;

 private:
  static ValueInfo info(std::string name, ElementType type, const std::vector<Dim>& dims) {
    ValueInfo made{.name = std::move(name), .type = {}, .doc = {}};
    made.type.kind = ValueKind::tensor;
    made.type.element = type;
    made.type.dims.emplace(dims.begin(), dims.end());
    return made;
  }
};

/// On the CPU device of a system of its own.
class OnnxTest : public testing::Test {
 protected:
  [[nodiscard]] LoadOptions here() const { return {.device = device_}; }
  static std::vector<float> floats(const NamedValues& values, const char* name) {
    return values.at(name).tensor().to_vector<float>();
  }
  static std::vector<std::int64_t> whole(const NamedValues& values, const char* name) {
    const Value& value = values.at(name);
    return value.is_known() ? value.known().to_integers()
                            : value.tensor().to_vector<std::int64_t>();
  }
  /// y of one node that reads `inputs` by their keys, in order.
  NamedValues of_node(const std::string& op,
                      const std::vector<std::pair<std::string, Value>>& inputs,
                      std::vector<Attribute> attributes = {}, std::int64_t opset = 21) {
    GraphBuilder builder;
    builder.opset = opset;
    std::vector<std::string> names;
    NamedValues values;
    for (const auto& [name, value] : inputs) {
      builder.graph.inputs.push_back({.name = name, .type = {}, .doc = {}});
      names.push_back(name);
      values.emplace(name, value);
    }
    builder.node(op, names, {"y"}, std::move(attributes)).output("y");
    return builder.load(here()).run(values).get();
  }
  /// Doubles x[n] until the sum is 100 or more, which it asks in each round: a cut. At most 60 rounds; `last` is the
  /// state behind them, `all` that of each.
  [[nodiscard]] Model doubling() const {
    GraphBuilder body;
    body.input("round", {}, ElementType::s64)
        .input("before", {}, ElementType::boolean)
        .input("state", {"n"})
        .constant("end", reals({100}))
        .node("Add", {"state", "state"}, {"next"})
        .node("ReduceSum", {"next"}, {"sum"}, {named("keepdims", std::int64_t{0})})
        .node("Less", {"sum", "end"}, {"goes_on"})
        .output("goes_on")
        .output("next")
        .output("next");
    return GraphBuilder{}
        .input("x", {"n"})
        .constant("most", integers({60}))
        .constant("yes", {.type = ElementType::boolean,
                          .dims = {},
                          .bytes = SharedBytes::own({std::byte{1}}),
                          .strings = {}})
        .node("Loop", {"most", "yes", "x"}, {"last", "all"}, {body.as("body")})
        .output("last")
        .output("all")
        .load(here());
  }
  template <class F> static Error refusal(F&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "it is not refused";
    return {};
  }

  System system_;
  Device device_ = system_.device("cpu");
  DeviceScope scope_{device_};
};

}  // namespace stoker::onnx
