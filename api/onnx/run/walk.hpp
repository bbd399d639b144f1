// A walk through a model's graph for inputs of certain shapes: it calls the rule of each node in turn.
//
//     inputs (placeholders, known values) ──▶ node by node ──▶ outputs: lazy tensors of the placeholders
//
// Values that the host knows are computed during the walk and become no part of the program. Where a rule needs the
// elements of a tensor that depends on placeholders, the walk makes a cut: it hands over all tensors that are still
// used, and the one to be read, and continues with new placeholders for them and with the elements.
//
// Where a loop separates its rounds, the walk hands over the state from which the next round starts, and
// continues at the place that it gets: at that round, at a later one, or after the loop.
//
// A walk is deterministic: with the same inputs, elements at its cuts and places in its loops, it makes the same cuts
// and outputs.
//
// Threads: one, within a DeviceScope, for the whole walk. Errors are thrown, with the node as a detail.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "stoker/api/onnx/loops/loop_place.hpp"
#include "stoker/api/onnx/run/constants.hpp"
#include "stoker/api/onnx/run/prepared.hpp"

namespace stoker::onnx {

struct Cut {
  std::vector<Tensor> alive = {};  ///< each once
  Tensor wanted;
  const Node* node = nullptr;  ///< the node whose rule needs the elements
  std::string_view name = {};  ///< the value's name in the file; empty: the rule made it
};
struct AfterCut {
  std::vector<Tensor> alive;  ///< the replacements, as many as Cut::alive
  std::vector<std::byte> elements;
};

/// Who computed the results of a node.
enum class ComputedBy : std::uint8_t {
  constants,  ///< its operands are all constant
  host,       ///< while the plan was made
  program,
};
/// An observer of a walk. Nodes of bodies begin and end within the node that has the body.
class WalkObserver {
 public:
  virtual void begins(const Node& node) = 0;
  virtual void ends(const Node& node, ComputedBy by) = 0;

 protected:
  ~WalkObserver() = default;
};
/// The services of the run for its walk. Their exceptions end the walk.
class WalkedRun {
 public:
  /// Called before each node and each round of a body.
  virtual void check_limits() = 0;
  [[nodiscard]] virtual AfterCut cut(const Cut& cut) = 0;
  /// Whether the run may have several segments if no elements are read.
  [[nodiscard]] virtual bool may_have_segments() const = 0;
  [[nodiscard]] virtual LoopId begin_loop() = 0;
  /// Where a loop continues; nothing: at its first round. `around`: the tensors from before the loop.
  [[nodiscard]] virtual std::optional<AfterRound> resume(LoopId loop,
                                                         std::span<const Tensor> around) = 0;
  [[nodiscard]] virtual AfterRound end_round(const RoundEnd& end, const Node& node) = 0;

 protected:
  ~WalkedRun() = default;
};

class Walk final : private Walker {
 public:
  /// All arguments must outlive it. `key`: the key of the run's random numbers, [2] u32; empty if
  /// none are drawn.
  Walk(const Prepared& model, Constants& constants, WalkedRun& run, Tensor key);
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  /// Returns the outputs at the positions `wanted`, in that order; nodes that only other outputs need are
  /// skipped. `inputs`: one for each input of the graph; an empty one is replaced by its initializer.
  [[nodiscard]] Values outputs(std::span<const Value> inputs, std::span<const std::size_t> wanted);
  /// The observer must outlive the walk; null: none.
  void watched_by(WalkObserver* observer) { observer_ = observer; }

 private:
  class LoopRounds;  // loops/loop_rounds.cpp
  /// Ends run_without_cut(). Not a std::exception, so that it differs from the exceptions of rules.
  struct TakesCut {};
  /// Called before every end of a segment.
  void check_may_cut() const {
    if (!may_cut_) throw TakesCut{};
  }
  struct Scope {
    std::unordered_map<std::string_view, Value> values = {};
    const Scope* outer = nullptr;
  };

  Known know(const Value& value) override;
  [[nodiscard]] bool takes_cut(const Value& value) const override;
  Values run(const Graph& graph, std::span<const Value> inputs) override;
  [[nodiscard]] std::optional<Values> run_without_cut(const Graph& graph,
                                                      std::span<const Value> inputs) override;
  Value constant(const TensorData& data) override;
  [[nodiscard]] bool may_choose_layouts() const override { return model_.choices().layouts; }
  Tensor prepared(std::size_t part, const std::function<Tensor()>& make) override;
  Value keep(Value value) override;
  Tensor random_key(std::optional<std::uint64_t> seed) override;
  std::unique_ptr<Rounds> rounds(std::int64_t most) override;

  /// `needed`: whether each node is computed; null: all are.
  [[nodiscard]] Values run(const Graph& graph, std::span<const Value> inputs,
                           std::span<const std::size_t> wanted, const std::vector<bool>* needed);
  void take(const PreparedNode& node, Scope& scope);
  [[nodiscard]] Values compute(const PreparedNode& node, std::span<const Value> inputs);
  [[nodiscard]] Values move_texts(const PreparedNode& node, std::span<const Value> inputs);
  [[nodiscard]] const Value& find(std::string_view name) const;
  /// The value as rules read it: texts and sequences to come are made, which may need a cut.
  [[nodiscard]] Value arrived(const Value& value);
  void cut(const std::shared_ptr<Value::Cell>& wanted, std::vector<std::byte>& elements);
  [[nodiscard]] std::string_view name_of(const Value::Cell& cell) const;

  const Prepared& model_;
  Constants& constants_;
  WalkedRun& run_;
  WalkObserver* observer_ = nullptr;
  Value key_;
  std::uint32_t drawn_ = 0;
  std::size_t cuts_ = 0;
  bool may_cut_ = true;
  const Scope* scope_ = nullptr;
  const Node* node_ = nullptr;                     ///< the innermost node that is being computed
  std::vector<std::weak_ptr<Value::Cell>> cells_;  ///< those that a cut exchanges
  /// Elements that were read. Does not keep cells alive: a cut hands over every live tensor, so a loop
  /// would add one in each round.
  std::map<std::weak_ptr<Value::Cell>, Known, std::owner_less<>> answers_;
};

}  // namespace stoker::onnx
