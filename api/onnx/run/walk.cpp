#include "stoker/api/onnx/run/walk.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "stoker/api/onnx/types/value_types.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/transforms/jit.hpp"
#include "stoker/pipeline/onnx/graph/shown.hpp"

namespace stoker::onnx {
namespace {

/// Host rules compute what decides about shapes, not weights.
constexpr std::size_t most_on_host = 4096;

bool is_tracked(const Tensor& tensor) { return stoker::detail::any_tracked({&tensor, 1}); }

/// Of what lies in memory: not of what is yet to be computed.
std::size_t bytes_of(const Value& value) {
  if (value.is_known()) return value.known().spec().bytes();
  return value.is_lazy() && value.tensor().evaluated() ? value.tensor().bytes() : 0;
}

bool fits_host(std::span<const Value> inputs) {
  std::size_t elements = 0;
  for (const Value& input : inputs) {
    if (!input.is_given()) continue;
    if (!input.is_known()) return false;
    elements += input.known().elements();
  }
  return elements <= most_on_host;
}

bool all_constant(std::span<const Value> inputs) {
  return std::ranges::all_of(
      inputs, [](const Value& input) { return !input.is_given() || input.is_constant(); });
}

/// Sets a place for as long as it lives.
template <class T> class Within {
 public:
  Within(T& place, T value) : place_{place}, before_{std::exchange(place, value)} {}
  ~Within() { place_ = before_; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  T& place_;
  const T before_;
};

ElementType type_of(const Value& value) {
  return value.is_tensor() || value.is_texts() ? value.type() : ElementType::undefined;
}

/// Types that the reader could not know.
void check_types(const PreparedNode& node, std::span<const Value> inputs) {
  if (node.definition->types.operands.empty()) return;
  std::vector<ElementType> types;
  types.reserve(inputs.size());
  for (const Value& input : inputs) types.push_back(type_of(input));
  if (std::string why = wrong_operand(node.definition->types, types); !why.empty())
    throw Error{node.node->operator_name(), ErrorCode::dtype_mismatch, std::move(why)};
}

void check_output(const ValueInfo& output, const Value& value) {
  const ElementType type = type_of(value);
  if (!declares_other(output.type, type)) return;
  const std::string declared{to_string(output.type.element)};
  const std::string came{to_string(type)};
  throw Error{"onnx.run",
              ErrorCode::dtype_mismatch,
              "output " + in_quotes(output.name) + " is " + came + ", but is declared " + declared,
              {{"output", output.name}, {"expected", declared}, {"came", came}}};
}

bool all_on_host(const Values& results) {
  bool all = true;
  for (const Value& result : results) result.visit_cells([&](const auto&) { all = false; });
  return all;
}

bool all_evaluated(const Values& results) {
  bool all = true;
  for (const Value& result : results)
    result.visit_cells([&](const auto& cell) { all &= cell->tensor.evaluated(); });
  return all;
}

/// What stands on constants only is computed now, not in each run; but not what is much larger than what it is made
/// of, such as a large tensor of zeros. `folds`: for all plans.
void settle(const Values& results, std::span<const Value> inputs, bool folds) {
  std::size_t from = 4096;
  for (const Value& input : inputs) from += bytes_of(input);
  for (const Value& result : results)
    result.visit_cells([&](const std::shared_ptr<Value::Cell>& cell) {
      const Tensor& tensor = cell->tensor;
      if (is_tracked(tensor) || tensor.bytes() > from + from / 2) return;
      if (folds)
        tensor.eval();
      else
        Constants::compute_for_plan(tensor);
    });
}

}  // namespace

Walk::Walk(const Prepared& model, Constants& constants, WalkedRun& run, Tensor key)
    : model_{model}, constants_{constants}, run_{run} {
  if (key.has_value()) key_ = keep(Value{key});
}

Values Walk::outputs(std::span<const Value> inputs, std::span<const std::size_t> wanted) {
  const Graph& graph = model_.graph();
  const std::vector<PreparedNode>& nodes = model_.nodes(graph);
  std::vector<bool> needed(nodes.size());
  std::unordered_set<std::string_view> names;
  for (const std::size_t output : wanted) names.insert(graph.outputs.at(output).name);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const PreparedNode& node = nodes[i];
    needed[i] = std::ranges::any_of(node.node->outputs, [&](const std::string& name) {
      return !name.empty() && names.contains(name);
    });
    if (!needed[i]) continue;
    names.insert(node.node->inputs.begin(), node.node->inputs.end());
    names.insert(node.captured.begin(), node.captured.end());
  }
  Values values = run(graph, inputs, wanted, &needed);
  for (std::size_t i = 0; i < values.size(); ++i) check_output(graph.outputs[wanted[i]], values[i]);
  return values;
}

Values Walk::run(const Graph& graph, std::span<const Value> inputs) {
  std::vector<std::size_t> all(graph.outputs.size());
  std::iota(all.begin(), all.end(), 0);
  return run(graph, inputs, all, nullptr);
}

std::optional<Values> Walk::run_without_cut(const Graph& graph, std::span<const Value> inputs) {
  const Within<bool> whole{may_cut_, false};
  const Within<WalkObserver*> unwatched{observer_,
                                        nullptr};  // of a node that does not end it would not hear
  try {
    return run(graph, inputs);
  } catch (const TakesCut&) {
    return {};
  } catch (const Error&) {  // what ends a run ends it at the next node, too
    return {};
  }
}

Values Walk::run(const Graph& graph, std::span<const Value> inputs,
                 std::span<const std::size_t> wanted, const std::vector<bool>* needed) {
  if (inputs.size() > graph.inputs.size())
    throw Error{"onnx", ErrorCode::arity_mismatch,
                std::to_string(inputs.size()) + " values for the " +
                    std::to_string(graph.inputs.size()) + " inputs of graph '" + graph.name + "'"};
  run_.check_limits();  // a body may have no nodes
  Scope scope{.outer = scope_};
  for (const Initializer& constant : graph.initializers)
    scope.values.insert_or_assign(constant.name, constants_.of(constant.tensor));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_given())
      scope.values.insert_or_assign(graph.inputs[i].name, keep(inputs[i]).as_constant(false));
  const Within<const Scope*> within{scope_, &scope};
  const std::vector<PreparedNode>& nodes = model_.nodes(graph);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (needed == nullptr || (*needed)[i]) take(nodes[i], scope);
  Values outputs;
  outputs.reserve(wanted.size());
  for (const std::size_t output : wanted) outputs.push_back(find(graph.outputs[output].name));
  return outputs;
}

void Walk::take(const PreparedNode& node, Scope& scope) {
  // Operands that are to come make a cut, which says for which node.
  const Within<const Node*> within{node_, node.node};
  Values inputs;
  inputs.reserve(node.node->inputs.size());
  for (const std::string& name : node.node->inputs)
    inputs.push_back(name.empty() ? Value{} : arrived(find(name)));
  const bool folds = !node.definition->random && node.captured.empty() &&
                     graphs_of(*node.node).empty() && all_constant(inputs);
  std::optional<Values> results;
  if (folds) results = constants_.folded(*node.node);
  const bool was_folded = results.has_value();
  if (observer_) observer_->begins(*node.node);
  try {
    run_.check_limits();
    if (!was_folded) {
      results = compute(node, inputs);
      settle(*results, inputs, folds);
    }
  } catch (const Error& error) {
    if (!error.detail("node").empty()) throw;
    throw error.with("node", node.node->place());
  } catch (const std::exception& exception) {  // of a rule of the program's own, or no memory
    throw error_from_exception(exception, node.node->operator_name())
        .with("node", node.node->place());
  }
  if (folds && !was_folded) {
    for (Value& result : *results) result = result.as_constant(true);
    results = constants_.keep(*node.node, std::move(*results));
  }
  for (std::size_t i = 0; i < node.node->outputs.size(); ++i) {
    if (!node.node->has_output(i)) continue;
    if (i >= results->size() || !(*results)[i].is_given())
      throw Error{node.node->operator_name(),
                  ErrorCode::unsupported,
                  "result " + std::to_string(i) + " is not computed",
                  {{"node", node.node->place()}}};
    scope.values.insert_or_assign(node.node->outputs[i],
                                  folds ? (*results)[i] : keep((*results)[i]).as_constant(false));
  }
  for (const std::string_view name : node.last_uses) scope.values.erase(name);
  if (observer_)
    observer_->ends(*node.node, folds && all_evaluated(*results) ? ComputedBy::constants
                                : all_on_host(*results)          ? ComputedBy::host
                                                                 : ComputedBy::program);
}

Values Walk::move_texts(const PreparedNode& node, std::span<const Value> inputs) {
  std::vector<std::string> all;
  Values positions{inputs.begin(), inputs.end()};
  for (Value& input : positions) {
    if (!input.is_texts()) continue;
    std::vector<std::int64_t> places(input.texts().strings.size());
    std::iota(places.begin(), places.end(), static_cast<std::int64_t>(all.size()));
    all.insert(all.end(), input.texts().strings.begin(), input.texts().strings.end());
    input = Known::integers(places, input.shape());
  }
  Values results = compute(node, positions);
  for (Value& result : results) result = Value::chosen_texts(all, result);
  return results;
}

Values Walk::compute(const PreparedNode& node, std::span<const Value> inputs) {
  check_types(node, inputs);
  const auto is_texts = [](const Value& input) { return input.is_texts(); };
  if (node.definition->moves && std::ranges::any_of(inputs, is_texts))
    return move_texts(node, inputs);
  Call call{*node.node, node.version, inputs, *this};
  if (node.definition->host && fits_host(inputs))
    if (auto results = node.definition->host(call)) return std::move(*results);
  return node.definition->lower(call);
}

const Value& Walk::find(std::string_view name) const {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->outer)
    if (const auto found = scope->values.find(name); found != scope->values.end())
      return found->second;
  throw Error{"onnx",
              ErrorCode::invalid_argument,
              "'" + std::string{name} + "' has no value",
              {{"name", std::string{name}}}};
}

Value Walk::constant(const TensorData& data) { return constants_.of(data); }

Tensor Walk::prepared(std::size_t part, const std::function<Tensor()>& make) {
  return constants_.prepared(*node_, part, make);
}

Value Walk::keep(Value value) {
  value.visit_cells([&](const std::shared_ptr<Value::Cell>& cell) {
    if (is_tracked(cell->tensor)) cells_.push_back(cell);
  });
  return value;
}

Tensor Walk::random_key(std::optional<std::uint64_t> seed) {
  if (seed) return random::key(*seed);
  return random::fold_in(key_.tensor(), drawn_++);
}

Value Walk::arrived(const Value& value) {
  return value.source() ? value.made_of(know(*value.source())) : value;
}

bool Walk::takes_cut(const Value& value) const {
  bool takes = false;
  if (value.is_lazy())
    value.visit_cells(
        [&](const auto& cell) { takes = is_tracked(cell->tensor) && !answers_.contains(cell); });
  return takes;
}

Known Walk::know(const Value& value) {
  if (value.is_known()) return value.known();
  std::shared_ptr<Value::Cell> cell;
  if (value.is_lazy()) value.visit_cells([&](const auto& one) { cell = one; });
  if (cell == nullptr)
    throw Error{"onnx", ErrorCode::invalid_argument, "expected numbers, got " + value.to_string()};
  if (const auto found = answers_.find(cell); found != answers_.end()) return found->second;
  const TensorSpec spec = cell->tensor.spec();
  std::vector<std::byte> elements;
  if (is_tracked(cell->tensor))
    cut(cell, elements);
  else
    elements = cell->tensor.to_bytes();
  Known answer{value.type(), spec.shape, std::move(elements)};
  answers_.emplace(cell, answer);
  return answer;
}

std::string_view Walk::name_of(const Value::Cell& wanted) const {
  if (node_ == nullptr) return {};
  for (const std::string& name : node_->inputs) {
    bool is_it = false;
    if (!name.empty())
      find(name).visit_cells([&](const auto& cell) { is_it |= cell.get() == &wanted; });
    if (is_it) return name;
  }
  return {};
}

void Walk::cut(const std::shared_ptr<Value::Cell>& wanted, std::vector<std::byte>& elements) {
  check_may_cut();
  std::erase_if(answers_, [](const auto& answer) { return answer.first.expired(); });
  std::vector<std::shared_ptr<Value::Cell>> held;
  std::unordered_set<const Value::Cell*> seen;
  Cut cut{.wanted = wanted->tensor, .node = node_, .name = name_of(*wanted)};
  std::vector<std::size_t> place;  // of each cell among those alive
  for (const auto& weak : cells_) {
    auto cell = weak.lock();
    if (cell == nullptr || !seen.insert(cell.get()).second) continue;
    const auto same = std::ranges::find_if(
        cut.alive, [&](const Tensor& one) { return one.value() == cell->tensor.value(); });
    place.push_back(static_cast<std::size_t>(same - cut.alive.begin()));
    if (same == cut.alive.end()) cut.alive.push_back(cell->tensor);
    held.push_back(std::move(cell));
  }
  AfterCut after = run_.cut(cut);
  ++cuts_;
  for (std::size_t i = 0; i < held.size(); ++i) held[i]->tensor = after.alive[place[i]];
  cells_.assign(held.begin(), held.end());
  elements = std::move(after.elements);
}

}  // namespace stoker::onnx
