// Definitions of passes over a model's graph, and the table of them.
//
// A pass is one definition in one file of api/onnx/passes:
//
//     void define(PassTable& table) {
//       table.add({.name = "identity", .summary = "Identity gives way to its operand",
//                  .run = [](GraphEditor& graph) { … }});
//     }
//
// CMake finds the file; nothing else is edited. Passes run in rounds, each over the graph and those below it, until
// a round changes nothing.
//
// Threads: a table may be read from any thread, and changed by one while nobody reads it. Errors are thrown:
// invalid_argument for a definition without a name, words or a rule, already_exists for a name that is there.
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
  cleaning,   ///< what changes nothing or is not needed
  integers,   ///< what is computed in integers, before their constants become floats
  constants,  ///< what constants give
  patterns,   ///< operators that were written out
  weights,    ///< what goes into the weights or attributes of a neighbour
  plans,      ///< what is chosen for plans, which changes no graph
};

struct Pass {
  std::string name;     ///< "batch_norm"
  std::string summary;  ///< what it does, as the table of docs/onnx.md says it
  Optimize level = Optimize::basic;
  PassStage stage = PassStage::cleaning;
  /// Whether operands may hold larger or smaller numbers afterwards, which 16 bits may not hold: then models that
  /// compute in these leave the pass out.
  bool changes_ranges = false;
  /// Changes the graph where the pass applies. Required, or choose().
  std::function<void(GraphEditor& graph)> run = {};
  /// Says what is chosen when plans are made.
  std::function<void(PlanChoices& choices)> choose = {};
};

class PassTable {
 public:
  void add(Pass definition);
  /// By stage and name.
  [[nodiscard]] const std::vector<Pass>& list() const noexcept { return passes_; }

  /// Stoker's own passes. Made at the first call.
  [[nodiscard]] static const PassTable& standard();

 private:
  std::vector<Pass> passes_;
};

/// Those of the level but for the ones named, in their order. Throws not_found, with the nearest, for a name that no
/// pass has.
[[nodiscard]] std::vector<const Pass*> chosen_passes(Optimize level,
                                                     std::span<const std::string> without);
/// Of those that change graphs: without them the graph stays as it was read, and plans are as good as they get.
[[nodiscard]] std::vector<std::string> names_of_rewriting_passes();

}  // namespace stoker::onnx
