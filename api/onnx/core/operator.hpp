// Definitions of ONNX operators, and the table that holds them.
//
// An operator is one definition in the file of its family in api/onnx/operators:
//
//     void define(OperatorTable& table) {
//       table.add({.name = "Softplus", .since = {1, 22}, .types = alike(float_types),
//                  .lower = [](Call& call) { return Values{call.like(softplus(call.x()))}; }});
//     }
//
// CMake finds the file; nothing else is edited. A program adds operators, or a whole domain, in the
// same way:
//
//     onnx::OperatorTable table = onnx::OperatorTable::standard();
//     table.add({.name = "Twice", .domain = "com.example", .lower = …});
//     onnx::load("model.onnx", {.operators = &table});
//
// Threads: any thread may read a table; one thread may change it while no other reads it. A loaded
// model keeps the definitions that it uses. Errors are thrown: invalid_argument for a definition
// without a name, a version or a rule, and for an operand whose type is that of no operand before it;
// already_exists for an operator that the table has.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/onnx/core/call.hpp"
#include "stoker/api/onnx/types/type_rule.hpp"

namespace stoker::onnx {

struct Operator {
  static constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

  std::string name;         ///< "Softplus"
  std::string domain = {};  ///< empty: ONNX's own
  /// The versions of the domain in which the operator began or changed, ascending. A model with an
  /// opset before the first is refused.
  std::vector<int> since = {1};
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
  std::size_t most_outputs = 1;
  /// The element types of operands and results. A node with other types is refused: when the model is
  /// loaded if the types are known then, otherwise by the run. Rules are never called with them. Empty:
  /// the rules take operands of any type.
  TypeRule types = {};
  /// The attributes that the rules understand. A node with another attribute is refused when the
  /// model is loaded.
  std::vector<std::string> attributes = {};
  /// The operands whose elements decide about shapes: `lower` may ask known() for these only. If an
  /// input of the model reaches such an operand through host rules, it is read before each run, and
  /// its elements are part of the plan's key.
  std::vector<std::size_t> decides = {};
  /// The reason why this node cannot be computed; empty: it can be. Called when the model is
  /// loaded.
  std::function<std::string(const Node& node, int version)> refuse = {};
  /// Computes the outputs on the host from small known operands, or returns nothing for operands
  /// that it leaves to `lower`. Called only if all given operands are known.
  std::function<std::optional<Values>(Call& call)> host = {};
  /// Returns the outputs, mostly as lazy tensors. Required.
  std::function<Values(Call& call)> lower = {};
  /// Whether equal operands may give different results.
  bool random = false;
  /// Whether the results are only elements of the operands at other positions. Such an operator
  /// also serves tensors of strings without rules of its own for them: its rules move positions.
  bool moves = false;
};

class OperatorTable {
 public:
  void add(Operator definition);
  /// Null if there is no such operator. "ai.onnx" is ONNX's own domain, too.
  [[nodiscard]] std::shared_ptr<const Operator> find(std::string_view domain,
                                                     std::string_view name) const;
  /// By domain and name.
  [[nodiscard]] std::vector<std::shared_ptr<const Operator>> list() const;
  [[nodiscard]] bool has_domain(std::string_view domain) const;

  /// Stoker's own operators. Made at the first call.
  [[nodiscard]] static const OperatorTable& standard();

 private:
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Operator>, std::less<>>
      operators_;
};

/// The last version of the operator that `opset` includes; 0 if the operator began later.
[[nodiscard]] int version_of(const Operator& definition, std::int64_t opset) noexcept;

}  // namespace stoker::onnx
