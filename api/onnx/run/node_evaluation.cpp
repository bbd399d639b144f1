#include "stoker/api/onnx/run/node_evaluation.hpp"

#include <numeric>

#include "stoker/api/onnx/run/walk.hpp"

namespace stoker::onnx {
namespace {

/// Constants need no run.
class NoRun final : public WalkedRun {
 public:
  void check_limits() override {}
  AfterCut cut(const Cut& /*cut*/) override { refuse(); }
  [[nodiscard]] bool may_have_segments() const override { return false; }
  LoopId begin_loop() override { return {}; }
  std::optional<AfterRound> resume(LoopId /*loop*/, std::span<const Tensor> /*around*/) override {
    return {};
  }
  AfterRound end_round(const RoundEnd& /*end*/, const Node& /*node*/) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw Error{"onnx.load", ErrorCode::unsupported, "a constant is not known"};
  }
};

/// Nothing if it is no tensor, or too large.
std::optional<TensorData> as_data(const Value& value, std::size_t most_bytes) {
  if (!value.is_tensor()) return {};
  std::vector<std::byte> carried;
  if (value.is_known()) {
    const auto bytes = value.known().bytes();
    if (bytes.size() > most_bytes) return {};
    carried.assign(bytes.begin(), bytes.end());
  } else {
    if (value.tensor().bytes() > most_bytes) return {};
    carried = value.tensor().to_bytes();
  }
  return TensorData{.type = value.type(),
                    .dims = extents_of(value.shape()),
                    .bytes = SharedBytes::own(packed_bytes(value.type(), carried)),
                    .strings = {}};
}

std::optional<std::vector<TensorData>> evaluated(const OperatorTable& operators,
                                                 const Device& device, const Node& node,
                                                 std::span<const Initializer> operands,
                                                 std::size_t most_bytes) {
  auto file = std::make_shared<ModelFile>();
  file->graph.nodes = {node};
  file->graph.initializers.assign(operands.begin(), operands.end());
  std::vector<std::size_t> places;  // of the results, among the outputs of the node
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.has_output(i)) {
      file->graph.outputs.push_back({.name = node.outputs[i], .type = {}, .doc = {}});
      places.push_back(i);
    }
  std::vector<std::size_t> wanted(places.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  const Prepared prepared{std::move(file), operators};
  Constants constants;
  const DeviceScope scope{device};
  NoRun run;
  Walk walk{prepared, constants, run, Tensor{}};
  const Values values = walk.outputs({}, wanted);
  std::vector<TensorData> results(node.outputs.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto data = as_data(values[i], most_bytes);
    if (!data) return {};
    results[places[i]] = std::move(*data);
  }
  return results;
}

}  // namespace

Evaluate node_evaluation(const OperatorTable& operators, Device device) {
  return [&operators, device = std::move(device)](
             const Node& node, std::span<const Initializer> operands,
             std::size_t most_bytes) -> std::optional<std::vector<TensorData>> {
    try {
      return evaluated(operators, device, node, operands, most_bytes);
    } catch (const std::exception&) {
      return {};  // the node stays, and a run that needs it says why
    }
  };
}

}  // namespace stoker::onnx
