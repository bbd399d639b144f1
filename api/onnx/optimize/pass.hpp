// Definitions of passes over a model's graph, and the table of them.
//
// A pass is one definition in one file of api/onnx/passes:
//
//     void define(PassTable& table) {
//       table.add({.name = "identity", .summary = "Identity gives way to its operand",
//                  .run = [](GraphEditor& graph) { … }});
//     }
//
// CMake finds the file; nothing else is edited. Passes run in rounds, each over the graph and its subgraphs, until
// a round changes nothing.
//
// Threads: any thread may read a table; one thread may change it while no other reads it. Errors are thrown:
// invalid_argument for a definition without a name, a summary or a rule, already_exists for a name that the
// table has.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/onnx/optimize/graph_editor.hpp"
#include "stoker/api/onnx/optimize/level.hpp"
#include "stoker/api/onnx/optimize/plan_choices.hpp"

namespace stoker::onnx {

/// The order within a round.
enum class PassStage : std::uint8_t {
  cleaning,   ///< removes nodes that have no effect or are not needed
  integers,   ///< computes in integers, before their constants become floats
  constants,  ///< computes nodes of constants
  patterns,   ///< recognizes operators that are written out
  weights,    ///< merges nodes into the weights or attributes of a neighbour
  plans,      ///< makes choices for plans; changes no graph
};

struct Pass {
  std::string name;     ///< "batch_norm"
  std::string summary;  ///< its effect, as in the table of docs/onnx.md
  Optimize level = Optimize::basic;
  PassStage stage = PassStage::cleaning;
  /// Whether operands may have larger or smaller numbers afterwards, which may exceed the range of 16 bits.
  /// Models that compute in 16 bits do not run such a pass.
  bool changes_ranges = false;
  /// Changes the graph where the pass applies. Either this or choose() is required.
  std::function<void(GraphEditor& graph)> run = {};
  /// Makes the pass's choices for plans.
  std::function<void(PlanChoices& choices)> choose = {};
};

class PassTable {
 public:
  void add(Pass definition);
  /// The passes by stage and name.
  [[nodiscard]] const std::vector<Pass>& list() const noexcept { return passes_; }

  /// Stoker's own passes. Made at the first call.
  [[nodiscard]] static const PassTable& standard();

 private:
  std::vector<Pass> passes_;
};

/// The passes of the level except those in `without`, in their order. Throws not_found, with the nearest name, for a
/// name that no pass has.
[[nodiscard]] std::vector<const Pass*> chosen_passes(Optimize level,
                                                     std::span<const std::string> without);
/// The names of the passes that change graphs. Without them the graph stays as it was read, but plans are still
/// optimized.
[[nodiscard]] std::vector<std::string> names_of_rewriting_passes();

}  // namespace stoker::onnx
