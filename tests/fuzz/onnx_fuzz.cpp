// ONNX models: what is read keeps what the headers of its structs promise.
#include "onnx_parts.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"

namespace stoker::fuzz::onnx {
namespace {

using namespace stoker::onnx;
using Graph = stoker::onnx::Graph;  // the other one is of tensor programs

void check(const Graph& graph);

struct CheckAttribute {
  void operator()(const TensorData& tensor) const { check_tensor(tensor); }
  void operator()(const GraphPtr& graph) const { check(*graph); }
  template <class T> void operator()(const std::vector<T>& list) const {
    for (const T& each : list) (*this)(each);
  }
  template <class T> void operator()(const T&) const {}
};

void check(const Graph& graph) {
  for (const Initializer& constant : graph.initializers) check_tensor(constant.tensor);
  for (const Node& node : graph.nodes) {
    require(!node.op.empty() && node.opset > 0, "a node has an operator and its version");
    for (const Attribute& attribute : node.attributes) {
      require(attribute.reference.empty() && attribute.value.index() != 0,
              "attributes of an inlined model have values");
      std::visit(CheckAttribute{}, attribute.value);
    }
  }
}

}  // namespace

void run(Bytes bytes) {
  // Small, so that what grows without bound shows.
  const ReadLimits limits{
      .nodes = 4096, .items = 1U << 16U, .nesting = 16, .dense_bytes = 1U << 20U};
  const auto model = accepted([&] { return read_model(bytes, {.limits = limits}).value(); });
  if (!model) return;
  require(model->functions.empty(), "functions are inlined");
  check(model->graph);
}

}  // namespace stoker::fuzz::onnx
