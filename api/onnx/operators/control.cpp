// Branches: the walk goes through the graph that is taken.
#include <utility>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"
#include "stoker/pipeline/tensor/graph/walk.hpp"

namespace stoker::onnx::operators::control {
namespace {

/// Both branches of an If are computed, and the device chooses, where that takes less time than the cut that asks the
/// condition: 5 µs on a CPU, 50 µs on a GPU. Elements that kernels read and write.
constexpr std::size_t most_nodes_of_branches = 32;
constexpr std::uint64_t most_elements_on_cpu = std::uint64_t{1} << 12;
constexpr std::uint64_t most_elements_on_gpu = std::uint64_t{1} << 17;

/// Whether nodes after `mark`, on which the tensors stand, are few elements of kernels that never fail.
bool are_cheap(std::span<const Tensor> tensors, std::uint64_t mark) {
  const std::uint64_t most =
      current_device().info().type == DeviceType::cpu ? most_elements_on_cpu : most_elements_on_gpu;
  std::vector<expr::Value> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
  std::uint64_t elements = 0;
  bool has_host_steps = false;
  expr::walk(
      values, [&](const expr::Node& node) { return node.serial() <= mark; },
      [&](const std::shared_ptr<expr::Node>& node, const expr::Values& inputs) {
        const expr::OpKind kind = node->op().kind;
        if (node->serial() <= mark || node->is_known()) return;
        has_host_steps |= kind == expr::OpKind::host;
        if (kind != expr::OpKind::scalar && kind != expr::OpKind::kernel) return;
        for (const TensorSpec& spec : node->specs()) elements += spec.elements();
        for (const expr::Value& input : inputs) elements += input.spec().elements();
      });
  return !has_host_steps && elements <= most;
}

/// What both branches give, chosen by the device; nothing if the condition is to be asked.
std::optional<Values> chosen_on_device(Call& call) {
  const Graph& yes = call.node().graph("then_branch");
  const Graph& no = call.node().graph("else_branch");
  if (!call.walker().takes_cut(call.input(0)) || call.shape(0).elements() != 1 ||
      yes.outputs.size() != no.outputs.size() ||
      count_nodes(yes) + count_nodes(no) > most_nodes_of_branches)
    return {};
  const std::uint64_t mark = expr::Node::next_serial();
  const std::optional<Values> some = call.walker().run_without_cut(yes, {});
  if (!some) return {};
  const std::optional<Values> others = call.walker().run_without_cut(no, {});
  if (!others) return {};
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < some->size(); ++i)
    for (const Value* value : {&(*some)[i], &(*others)[i]}) {
      const Value& like = (*some)[i];
      // Integers that the host knows are shapes, axes or positions, which it is to know.
      if (!value->is_tensor() || value->type() != like.type() || value->shape() != like.shape() ||
          (value->is_known() && value->known().holds_integers()))
        return {};
      tensors.push_back(value->tensor());
    }
  if (!are_cheap(tensors, mark)) return {};
  const Tensor condition = not_equal(reshape(call.x(0), Shape{}), 0);
  Values chosen;
  for (std::size_t i = 0; i < some->size(); ++i)
    chosen.emplace_back(select(condition, tensors[2 * i], tensors[2 * i + 1]), (*some)[i].type());
  return chosen;
}

Values if_rule(Call& call) {
  if (std::optional<Values> chosen = chosen_on_device(call)) return *std::move(chosen);
  const bool condition = call.integer(0) != 0;
  const Graph& branch = call.node().graph(condition ? "then_branch" : "else_branch");
  return call.walker().run(branch, {});
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "If",
             .since = {1, 11, 13, 16, 19, 21, 23, 24, 25},
             .most_outputs = Operator::any_number,
             .types = {.operands = {ElementType::boolean}, .results = {OfBody{}}},
             .attributes = {"then_branch", "else_branch"},
             .decides = {0},
             .lower = &if_rule});
}

}  // namespace stoker::onnx::operators::control
