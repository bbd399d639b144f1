// The rounds of a loop, on the side of the walk.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "stoker/api/onnx/run/walk.hpp"
#include "stoker/api/tensor/core/shape_queries.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/transforms/jit.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx {
namespace {

/// In so many rounds the host goes on to know states that decide about shapes: each of these rounds is a program of its
/// own. In later ones they are asked for by a cut, so that a long loop does not fill the plans.
constexpr std::size_t most_known_rounds = 16;
/// A state that decides about none stays known if it is no larger.
constexpr std::size_t most_known_bytes = 4096;

bool are_equal(const Known& one, const Known& other) {
  return one.spec() == other.spec() && one.type() == other.type() &&
         std::ranges::equal(one.bytes(), other.bytes());
}

std::shared_ptr<Value::Cell> cell_of(const Value& value) {
  std::shared_ptr<Value::Cell> found;
  value.visit_cells([&](const auto& cell) { found = cell; });
  return found;
}

}  // namespace

class Walk::LoopRounds final : public Rounds {
 public:
  LoopRounds(Walk& walk, std::int64_t most)
      : walk_{walk},
        most_{most},
        loop_{walk.run_.begin_loop()},
        drawn_{walk.drawn_},
        key_{cell_of(walk.key_)},
        cuts_{walk.cuts_} {
    std::unordered_set<const Value::Cell*> seen;
    for (const auto& weak : walk.cells_)
      if (auto cell = weak.lock(); cell && seen.insert(cell.get()).second)
        around_.push_back(std::move(cell));
    for (const auto& cell : around_) was_known_.push_back(walk.answers_.contains(cell));
  }

  std::optional<LoopState> resumed() override {
    std::optional<AfterRound> after = walk_.run_.resume(loop_, tensors_around());
    if (!after) return {};
    return go_on(*after);
  }

  bool must_part(const Value& goes_on) const override {
    return walk_.cuts_ != cuts_ || can_be_read(goes_on);
  }

  bool may_part(std::span<const std::string_view> names) const override {
    return walk_.may_cut_ && walk_.run_.may_have_segments() &&
           std::ranges::none_of(names,
                                [&](std::string_view name) { return walk_.model_.decides(name); });
  }

  LoopState part(RoundResult round) override {
    walk_.check_may_cut();
    const auto keep = [&](Value& value) { value = walk_.keep(std::move(value)); };
    keep(round.goes_on);
    std::ranges::for_each(round.after, keep);
    for (Values& given : round.given) std::ranges::for_each(given, keep);
    RoundEnd end{.loop = loop_, .most = most_, .place = {}};
    // These may take cuts, so that tensors come afterwards.
    for (Value& state : round.after) state = walk_.arrived(state);
    if (!can_be_read(round.goes_on))
      end.goes_on = walk_.know(round.goes_on).to_integers().at(0) != 0;
    else
      end.condition = round.goes_on.tensor();

    auto place = std::make_shared<LoopPlace>();
    place->rounds = rounds_ + 1;
    for (std::size_t i = 0; i < round.after.size(); ++i)
      make_alike(round.names[i], round.before[i], round.after[i]);
    end.alive = tensors_around();
    for (const Value& state : round.after) {
      state.visit_cells([&](const auto& cell) { end.alive.push_back(cell->tensor); });
      place->states.push_back(state.with_tensors(
          [](const Value::Cell& cell) { return placeholder(cell.tensor.spec()); }));
    }
    // Numbers are counted anew in each round, of a key that no other round has.
    if (walk_.drawn_ != drawn_)
      walk_.key_ = Value{random::fold_in(walk_.key_.tensor(), walk_.drawn_)};
    place->has_key = cell_of(walk_.key_) != key_;
    if (place->has_key) end.alive.push_back(walk_.key_.tensor());
    for (std::size_t i = 0; i < around_.size(); ++i)
      if (!was_known_[i])
        if (const auto known = walk_.answers_.find(around_[i]); known != walk_.answers_.end())
          place->answers.emplace_back(i, known->second);
    end.rounds = round.given.size();
    place->joined = round.joined;
    const std::size_t stacked = round.given[0].size() - round.joined;
    for (std::size_t i = 0; i < round.given[0].size(); ++i) {
      std::vector<Tensor> each;
      for (const Values& given : round.given) each.push_back(given[i].tensor());
      end.given.push_back(each.size() == 1 ? each[0]
                          : i < stacked    ? stack(each)
                                           : concatenate(each));
      place->given.push_back(round.given[0][i].type());
    }
    place->together = round.together;
    end.place = std::move(place);
    round = {};
    return go_on(walk_.run_.end_round(end, *walk_.node_));
  }

 private:
  /// By the run, at the end of the round.
  [[nodiscard]] bool can_be_read(const Value& goes_on) const {
    return walk_.takes_cut(goes_on) && goes_on.type() == ElementType::boolean &&
           goes_on.tensor().size() > 0;
  }

  /// A state that the host knows and that each round changes would make each round a program of its own. The elements
  /// of a large one, such as weights, would make a long key that each round looks up.
  void make_alike(std::string_view name, const Value& before, Value& after) const {
    if (!after.is_known()) return;
    const bool decides = walk_.model_.decides(name);
    if ((decides || after.known().spec().bytes() <= most_known_bytes) && before.is_known() &&
        are_equal(before.known(), after.known()))
      return;
    if (decides && rounds_ < most_known_rounds) return;
    after = Value{after.known().tensor(), after.type()};
  }

  /// Of the cells that were there before the loop, which stay until it ends: each once.
  [[nodiscard]] std::vector<Tensor> tensors_around() {
    std::vector<Tensor> tensors;
    positions_.clear();
    for (const auto& cell : around_) {
      const auto same = std::ranges::find_if(
          tensors, [&](const Tensor& one) { return one.value() == cell->tensor.value(); });
      positions_.push_back(static_cast<std::size_t>(same - tensors.begin()));
      if (same == tensors.end()) tensors.push_back(cell->tensor);
    }
    return tensors;
  }

  /// From there, as if nothing had come before it: see Rounds.
  LoopState go_on(const AfterRound& after) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < around_.size(); ++i) {
      around_[i]->tensor = after.alive[positions_[i]];
      next = std::max(next, positions_[i] + 1);
    }
    const LoopPlace& place = *after.place;
    LoopState state{.goes_on = after.goes_on};
    for (const Value& one : place.states)
      state.states.push_back(
          one.with_tensors([&](const Value::Cell&) { return after.alive[next++]; }));
    walk_.cells_.assign(around_.begin(), around_.end());
    for (const Value& one : state.states) static_cast<void>(walk_.keep(one));
    if (place.has_key) walk_.key_ = walk_.keep(Value{after.alive[next]});
    walk_.drawn_ = drawn_;
    for (std::size_t i = 0; i < around_.size(); ++i)
      if (!was_known_[i]) walk_.answers_.erase(around_[i]);
    for (const auto& [position, known] : place.answers)
      walk_.answers_.insert_or_assign(around_[position], known);
    for (std::size_t i = 0; i < after.given.size(); ++i)
      state.given.push_back(walk_.keep(Value{after.given[i], place.given[i]}));
    rounds_ = place.rounds;
    state.together = place.together;
    cuts_ = ++walk_.cuts_;
    return state;
  }

  Walk& walk_;
  const std::int64_t most_;
  const LoopId loop_;
  const std::uint32_t drawn_;
  const std::shared_ptr<Value::Cell> key_;  // before the loop
  std::size_t cuts_;                        // when rounds were parted last, or before the loop
  std::vector<std::shared_ptr<Value::Cell>> around_;
  std::vector<bool> was_known_;  // those around whose elements were asked for before the loop
  std::vector<std::size_t> positions_;  // of each cell among the tensors that were handed over
  std::size_t rounds_ = 0;
};

std::unique_ptr<Rounds> Walk::rounds(std::int64_t most) {
  return std::make_unique<LoopRounds>(*this, most);
}

}  // namespace stoker::onnx
