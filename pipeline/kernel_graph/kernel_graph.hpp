// A pipeline as data: named values and the kernels that turn them into each other.
//
// A value is *external* (bound to a buffer for each run) or *internal* (lives in the run's own
// memory). Stages may be added in any order; a value is written by at most one stage, except that
// an external value may be written by several, in the order they were added.
//
// Ownership: a KernelGraph owns its stages and shares the kernels. Threads: build it on one thread at a
// time; a finished graph may be read from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/kernel.hpp"

namespace stoker {

using ValueId = std::uint32_t;

struct GraphValue {
  std::string name;
  std::optional<TensorSpec> spec;  ///< externals: given; internals: inferred by check_graph()
  bool external = false;
  ValueId memory = 0;  ///< the value whose memory it is: its own, or the one that it is an alias of
  std::vector<ValueId> after = {};  ///< of an alias: who reads it waits for these, too
};

struct GraphStage {
  std::shared_ptr<const Kernel> kernel;
  ParamSet params;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

class KernelGraph {
 public:
  /// Declares an external value. Errors: already_exists.
  Result<ValueId> external(std::string_view name, TensorSpec spec);

  /// The value called `name`; makes an internal one on first mention.
  [[nodiscard]] ValueId value(std::string_view name);
  [[nodiscard]] std::optional<ValueId> find(std::string_view name) const;

  /// Another shape of the same elements: reading it is reading `of`. Not written by a stage and never
  /// external. Its shape must have as many elements; check_graph() says so. Stages that read it run when
  /// the values `after` have been written, as if they read those, too.
  [[nodiscard]] ValueId alias(std::string_view name, ValueId of, const Shape& shape,
                              std::span<const ValueId> after = {});

  /// Adds a stage. Checked at once: arity and parameters; the rest is check_graph()'s, when all
  /// stages are known. Nothing changes on failure.
  Result<void> add(std::shared_ptr<const Kernel> kernel, std::vector<ValueId> inputs,
                   std::vector<ValueId> outputs, const Params& params);

  /// How much there is of it: back_to() drops the values and stages that were added since.
  struct Mark {
    std::size_t values = 0;
    std::size_t stages = 0;
  };
  [[nodiscard]] Mark mark() const noexcept { return {values_.size(), stages_.size()}; }
  void back_to(const Mark& mark) noexcept;

  /// Makes an internal value external under the spec that check_graph() inferred for it, so that a
  /// run can bind a buffer to it. Precondition: the graph has been checked.
  void expose(ValueId value) { values_[value].external = true; }

  [[nodiscard]] const std::vector<GraphValue>& values() const noexcept { return values_; }
  [[nodiscard]] const std::vector<GraphStage>& stages() const noexcept { return stages_; }
  /// The spec of a value whose memory's is known; an alias takes over its dtype. Errors: shape_mismatch.
  [[nodiscard]] Result<TensorSpec> checked_spec(ValueId value);
  void set_spec(ValueId value, TensorSpec spec) { values_[value].spec = spec; }

 private:
  std::vector<GraphValue> values_;
  std::vector<GraphStage> stages_;
  std::map<std::string, ValueId, std::less<>> by_name_;
};

/// Orders the stages so that each comes after those it reads from, checks every shape, dtype and
/// parameter in that order and fills in the specs of internal values. Returns the order (indices of
/// stages). Errors: cycle (names the values on it), not_found (a value that is read and never
/// written), invalid_argument (written twice), and whatever the kernels say, with the detail `stage`.
[[nodiscard]] Result<std::vector<std::uint32_t>> check_graph(KernelGraph& graph);

}  // namespace stoker
