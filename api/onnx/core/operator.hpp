// Definitions of ONNX operators, and the table of them.
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
// Threads: a table may be read from any thread, and changed by one while nobody reads it. A loaded
// model keeps the definitions that it uses. Errors are thrown: invalid_argument for a definition
// without a name, a version or a rule, and for types that are those of no operand before;
// already_exists for an operator that is there.
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
  /// The versions of the domain in which the operator began or changed, ascending. A model of an
  /// opset before the first is refused.
  std::vector<int> since = {1};
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
  std::size_t most_outputs = 1;
  /// The element types of operands and results. A node with other ones is refused: when the model is loaded where the
  /// types are known then, else by the run. Rules are never called with them. Empty: what the rules are given, they
  /// take.
  TypeRule types = {};
  /// Those that the rules understand. A node with another one is refused when the model is loaded.
  std::vector<std::string> attributes = {};
  /// The operands whose elements decide about shapes: those that `lower` may ask known() for. A
  /// model's input that comes to one through host rules is read before each run, and plans are kept
  /// by its elements.
  std::vector<std::size_t> decides = {};
  /// Why this node cannot be computed; empty: it can. Asked when the model is loaded.
  std::function<std::string(const Node& node, int version)> refuse = {};
  /// Computes small known operands on the host; nothing if it does not for these. Asked only if all
  /// operands that are given are known.
  std::function<std::optional<Values>(Call& call)> host = {};
  /// The outputs as lazy tensors, or as whatever they are. Required.
  std::function<Values(Call& call)> lower = {};
  /// Whether equal operands give unequal results.
  bool random = false;
  /// Whether results are elements of its operands in other places, and nothing else. Then it serves
  /// tensors of strings as it is: its rules move their positions.
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

/// The last version of the operator that `opset` has; 0 if it began later.
[[nodiscard]] int version_of(const Operator& definition, std::int64_t opset) noexcept;

}  // namespace stoker::onnx
