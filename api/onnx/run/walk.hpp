// A walk through a model's graph for inputs of certain shapes: it calls the rule of each node in turn.
//
//     inputs (placeholders, known values) ──▶ node by node ──▶ outputs: lazy tensors of the placeholders
//
// What the host knows is computed on the way and leaves nothing behind. Where a rule needs the elements of a tensor
// that stands on placeholders, the walk makes a cut: it hands over all tensors that are still used, and the one
// wanted, and goes on with placeholders in their place and the elements.
//
// Where a loop parts its rounds, the walk hands over what the next round starts from and goes on from the
// place that it is told: that of a later round, perhaps, or behind the loop.
//
// A walk is deterministic: the same inputs, answers at its cuts and places in its loops give the same cuts and outputs.
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
  const Node* node = nullptr;  ///< whose rule asks
  std::string_view name = {};  ///< what the file calls the value; empty: the rule made it
};
struct AfterCut {
  std::vector<Tensor> alive;  ///< as many, to go on with
  std::vector<std::byte> elements;
};

/// Who computed the results of a node.
enum class ComputedBy : std::uint8_t {
  constants,  ///< it stands on nothing else
  host,       ///< while the plan was made
  program,
};
/// What a walk tells whoever watches it. Nodes of bodies begin and end within that of the node that has them.
class WalkObserver {
 public:
  virtual void begins(const Node& node) = 0;
  virtual void ends(const Node& node, ComputedBy by) = 0;

 protected:
  ~WalkObserver() = default;
};
/// What a walk asks of the run that it is for. What these throw ends the walk.
class WalkedRun {
 public:
  /// Called before each node and each round of a body.
  virtual void check_limits() = 0;
  [[nodiscard]] virtual AfterCut cut(const Cut& cut) = 0;
  /// Whether it may come to more than one segment where no elements are asked for.
  [[nodiscard]] virtual bool may_have_segments() const = 0;
  [[nodiscard]] virtual LoopId begin_loop() = 0;
  /// Where a loop that began goes on: nothing if with its first round. `around`: the tensors that are there.
  [[nodiscard]] virtual std::optional<AfterRound> resume(LoopId loop,
                                                         std::span<const Tensor> around) = 0;
  [[nodiscard]] virtual AfterRound end_round(const RoundEnd& end, const Node& node) = 0;

 protected:
  ~WalkedRun() = default;
};

class Walk final : private Walker {
 public:
  /// All of them outlive it. `key`: of the run's random numbers, [2] u32; empty if none are drawn.
  Walk(const Prepared& model, Constants& constants, WalkedRun& run, Tensor key);
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  /// One value for each input of the graph; one that is not given takes its initializer. The outputs at these
  /// positions, in that order; nodes that only others need are passed over.
  [[nodiscard]] Values outputs(std::span<const Value> inputs, std::span<const std::size_t> wanted);
  /// It outlives the walk; null: nobody watches.
  void watched_by(WalkObserver* observer) { observer_ = observer; }

 private:
  class LoopRounds;  // loops/loop_rounds.cpp
  /// Ends run_without_cut(). No std::exception, which is what rules throw.
  struct TakesCut {};
  /// Precedes whatever ends a segment.
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

  /// `needed`: which nodes; null: all.
  [[nodiscard]] Values run(const Graph& graph, std::span<const Value> inputs,
                           std::span<const std::size_t> wanted, const std::vector<bool>* needed);
  void take(const PreparedNode& node, Scope& scope);
  [[nodiscard]] Values compute(const PreparedNode& node, std::span<const Value> inputs);
  [[nodiscard]] Values move_texts(const PreparedNode& node, std::span<const Value> inputs);
  [[nodiscard]] const Value& find(std::string_view name) const;
  /// As rules read it: what is to come is there, which may take a cut.
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
  const Node* node_ = nullptr;                     ///< the innermost that is computed
  std::vector<std::weak_ptr<Value::Cell>> cells_;  ///< those that a cut exchanges
  /// What was asked for. Keeps no cell, as a cut hands over all that is kept: a loop would add one a round.
  std::map<std::weak_ptr<Value::Cell>, Known, std::owner_less<>> answers_;
};

}  // namespace stoker::onnx
