#include "stoker/api/onnx/loops/round_driver.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/onnx/graph/shown.hpp"

namespace stoker::onnx {
namespace {

/// Rounds that are not parted are one program, which is too long with this many already.
constexpr std::size_t most_rounds = 1 << 16;

/// A loop of more nodes, those of each round counted, is parted where that takes no cut: into programs of so
/// many nodes, or rounds, that are fused into few kernels but soon made.
constexpr std::size_t most_nodes_together = 4096;
constexpr std::size_t nodes_of_part = 512;
constexpr std::size_t rounds_of_part = 64;

Value stacked_texts(const Call& call, const Values& rounds, std::int64_t axis) {
  std::vector<std::string> all;
  std::vector<Tensor> places;
  for (const Value& round : rounds) {
    const Value made = round.source() ? round.made_of(call.walker().know(*round.source())) : round;
    const Texts& texts = made.texts();
    std::vector<std::int64_t> of_round(texts.strings.size());
    std::iota(of_round.begin(), of_round.end(), static_cast<std::int64_t>(all.size()));
    all.insert(all.end(), texts.strings.begin(), texts.strings.end());
    places.push_back(Known::integers(of_round, texts.shape).tensor());
  }
  return Value::chosen_texts(std::move(all), call.walker().know(stack(places, axis)));
}

/// The stacked outputs of a loop that runs no round.
class NoRounds {
 public:
  /// `inputs` are what a round would read.
  NoRounds(const Call& call, const Graph& body, Values inputs)
      : call_{call}, body_{body}, inputs_{std::move(inputs)} {}

  /// An empty tensor, or no texts, with the element type and the extents that the body declares for this output;
  /// unknown extents are 0. What the body does not declare is taken from a round that is traced for this. If that needs
  /// a cut or is refused, the shape is [0], as in ONNX Runtime.
  [[nodiscard]] Value stacked(std::size_t output, std::int64_t axis = 0) {
    const ValueType& declared = body_.outputs[output].type;
    ElementType type = declared.element;
    std::optional<Axes> extents;
    if (declared.dims) {
      extents.emplace();
      for (const Dimension& dim : *declared.dims) extents->push_back(dim.extent.value_or(0));
    }
    const bool knows_type = carrier_of(type) || type == ElementType::string;
    if (const Value* const round = extents && knows_type ? nullptr : of_round(output)) {
      if (!knows_type) type = round->type();
      if (!extents) extents = extents_of(round->shape());
    }
    const auto carrier = carrier_of(type);
    if (!carrier && type != ElementType::string)
      call_.refuse(ErrorCode::unsupported, "the type of what no round gives is not known");
    const std::int64_t rank = extents ? static_cast<std::int64_t>(extents->size()) : 0;
    Axes all = extents.value_or(Axes{});
    all.insert(all.begin() + (extents ? axis_in(axis, rank + 1) : 0), 0);
    const Result<Shape> shape = Shape::try_make(all);
    if (!shape)
      call_.refuse(ErrorCode::unsupported, "what no round gives for output " +
                                               in_quotes(body_.outputs[output].name) +
                                               " cannot have the extents that the body declares: " +
                                               std::string{shape.error().reason()});
    if (type == ElementType::string) return Texts{*shape, {}};
    return {zeros(*shape, *carrier), type};
  }

 private:
  /// Null if a round needs a cut, is refused, or gives no tensor there.
  [[nodiscard]] const Value* of_round(std::size_t output) {
    if (!round_) round_ = call_.walker().run_without_cut(body_, inputs_).value_or(Values{});
    if (output >= round_->size()) return nullptr;
    const Value& given = (*round_)[output];
    return given.is_tensor() || given.is_texts() ? &given : nullptr;
  }

  const Call& call_;
  const Graph& body_;
  const Values inputs_;
  std::optional<Values> round_;
};

/// How many of `rounds` rounds are traced together behind the first ones; 0: all.
std::size_t rounds_together(const Graph& body, std::int64_t rounds) {
  const std::size_t nodes = std::max<std::size_t>(count_nodes(body), 1);
  if (rounds <= 0 || static_cast<std::size_t>(rounds) <= most_nodes_together / nodes) return 0;
  return std::clamp<std::size_t>(nodes_of_part / nodes, 1, rounds_of_part);
}

/// Whether rounds that start from one of these have the same program, but for what the host knows.
bool are_alike(const Values& some, const Values& others) {
  return std::ranges::equal(some, others, [](const Value& one, const Value& other) {
    return one.is_tensor() && other.is_tensor() && one.type() == other.type() &&
           one.shape() == other.shape();
  });
}

Value after_round(const Value& round) {
  if (round.is_known()) return Known::integer(round.known().to_integers().at(0) + 1);
  return {round.tensor() + full(Shape{}, 1, DType::s64), ElementType::s64};
}

/// The tensor with one of its axes as another one, and the others in their order.
Tensor with_axis_at(const Tensor& tensor, std::int64_t from, std::int64_t to) {
  if (from == to) return tensor;
  Axes order(tensor.shape().rank());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return transpose(tensor, order);
}

/// What one round appends, with the axis first along which it is joined.
Value appended(const Call& call, const Value& part, std::int64_t axis) {
  const std::int64_t at = axis_in(axis, static_cast<std::int64_t>(part.shape().rank()));
  return at == 0 ? part : call.keep({with_axis_at(part.tensor(), at, 0), part.type()});
}

/// Vectors that the host knows are joined there, as Concat does it.
std::optional<Value> joined_on_host(const Value& first, const Values& parts) {
  const auto is_vector = [](const Value& value) {
    return value.is_known() && value.shape().rank() == 1;
  };
  if (!is_vector(first) || !std::ranges::all_of(parts, is_vector)) return {};
  std::vector<std::byte> bytes{first.known().bytes().begin(), first.known().bytes().end()};
  std::int64_t extent = first.shape()[0];
  for (const Value& part : parts) {
    const auto of_part = part.known().bytes();
    bytes.insert(bytes.end(), of_part.begin(), of_part.end());
    extent += part.shape()[0];
  }
  return Known{first.type(), Shape{extent}, std::move(bytes)};
}

/// A state behind the last round: what it was before the first, and what the rounds appended.
Value grown(const Call& call, const Value& first, const Values& parts, std::int64_t axis) {
  if (parts.empty()) return first;
  for (const Value& part : parts)
    if (part.type() != first.type())
      call.refuse(ErrorCode::dtype_mismatch, first.to_string() + " and " + part.to_string());
  if (std::optional<Value> known = joined_on_host(first, parts)) return *std::move(known);
  const std::int64_t at = axis_in(axis, static_cast<std::int64_t>(first.shape().rank()));
  std::vector<Tensor> all{with_axis_at(first.tensor(), at, 0)};
  all.reserve(parts.size() + 1);
  for (const Value& part : parts) all.push_back(part.tensor());
  return {with_axis_at(concatenate(all), 0, at), first.type()};
}

/// Rounds that were stacked along the first axis, as the output has them.
Value as_output(const Value& rounds, const StackedOutput& output) {
  if (output.axis == 0 && !output.reversed) return rounds;
  Tensor tensor = rounds.tensor();
  if (output.reversed) tensor = reverse(tensor, Axes{0});
  const std::int64_t axis = axis_in(output.axis, static_cast<std::int64_t>(tensor.shape().rank()));
  return {with_axis_at(tensor, 0, axis), rounds.type()};
}

/// The walk through the rounds of one loop.
class Driver {
 public:
  Driver(Call& call, const DrivenLoop& loop, const Values& states)
      : call_{call}, loop_{loop}, initial_{states}, first_{loop.has_condition ? 1U : 0U} {
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (loop.growing.contains(i)) continue;
      now_.states.push_back(states[i]);
      names_.emplace_back(loop.body.inputs[loop.first_state + i].name);
    }
    // The round is a state that the loop itself counts.
    if (loop.counts) {
      now_.states.emplace_back(Known::integer(0));
      names_.push_back(loop.counter);
    }
    now_.goes_on = loop.goes_on && loop.most > 0;
  }

  Values outputs() {
    run();
    Values results;
    std::size_t next = 0;
    std::size_t grows = scans();
    for (std::size_t i = 0; i < initial_.size(); ++i) {
      const auto growing = loop_.growing.find(i);
      results.push_back(growing == loop_.growing.end()
                            ? now_.states[next++]
                            : grown(call_, initial_[i], rounds_of(grows++), growing->second));
    }
    std::optional<NoRounds> none;
    for (std::size_t i = 0; i < scans(); ++i) {
      const StackedOutput& output = loop_.outputs[i];
      if (!now_.given.empty()) {
        results.push_back(as_output(now_.given[i], output));
        continue;
      }
      Values each = rounds_of(i);
      if (each.empty()) {
        if (!none) none.emplace(call_, loop_.body, inputs());
        results.push_back(none->stacked(first_ + initial_.size() + i, output.axis));
        continue;
      }
      if (output.reversed) std::reverse(each.begin(), each.end());
      const std::int64_t rank = static_cast<std::int64_t>(each[0].shape().rank()) + 1;
      results.push_back(stacked(call_, each, axis_in(output.axis, rank)));
    }
    return results;
  }

 private:
  [[nodiscard]] std::size_t scans() const {
    return loop_.body.outputs.size() - first_ - initial_.size();
  }
  [[nodiscard]] Values inputs() const {
    Values states;
    std::size_t next = 0;
    for (std::size_t i = 0; i < initial_.size(); ++i)
      states.push_back(loop_.growing.contains(i) ? Value{} : now_.states[next++]);
    return loop_.inputs(std::move(states), loop_.counts ? now_.states.back() : Value{});
  }
  /// What the rounds gave for one of the outputs, or appended to one of the growing states behind these.
  [[nodiscard]] Values rounds_of(std::size_t output) const {
    if (!now_.given.empty()) return {now_.given[output]};
    Values each;
    each.reserve(given_.size());
    for (const Values& round : given_) each.push_back(round[output]);
    return each;
  }

  void run() {
    rounds_ = call_.walker().rounds(loop_.most);
    // The first part has what is left over, too, so that whole parts follow.
    part_ = loop_.is_counted && rounds_->may_part(loop_.deciding)
                ? rounds_together(loop_.body, loop_.most)
                : 0;
    if (part_ > 0) now_.together = part_ + static_cast<std::size_t>(loop_.most) % part_;
    if (auto place = rounds_->resumed()) {
      now_ = *std::move(place);
      is_parted_ = true;
    }
    while (now_.goes_on) run_round();
  }

  void run_round() {
    // A Scan has as many rounds as its operand has elements.
    if (loop_.has_condition && given_.size() == most_rounds)
      call_.refuse(ErrorCode::limit_exceeded,
                   "more than " + std::to_string(most_rounds) + " rounds");
    Values next = call_.walker().run(loop_.body, inputs());
    for (Value& one : next) one = call_.keep(std::move(one));
    const Value goes_on = loop_.asks ? next[0] : Value{Known::integer(1, ElementType::boolean)};
    const auto results = next.begin() + static_cast<std::ptrdiff_t>(first_);
    Values& given =
        given_.emplace_back(results + static_cast<std::ptrdiff_t>(initial_.size()), next.end());
    Values after;
    for (std::size_t i = 0; i < initial_.size(); ++i) {
      const auto growing = loop_.growing.find(i);
      if (growing == loop_.growing.end())
        after.push_back(results[static_cast<std::ptrdiff_t>(i)]);
      else
        given.push_back(appended(call_, results[static_cast<std::ptrdiff_t>(i)], growing->second));
    }
    if (loop_.counts) after.push_back(call_.keep(after_round(now_.states.back())));
    end_round(goes_on, std::move(after));
  }

  void end_round(const Value& goes_on, Values after) {
    const bool is_cut = rounds_->must_part(goes_on);
    bool parts = is_cut || given_.size() == now_.together;
    const bool gives_texts = std::ranges::any_of(given_.back(), &Value::is_texts);
    // Texts are no tensors to hand over. A Scan always knows how it goes on, so a cut in its body need not part it.
    const bool may_go_on = !is_cut || !loop_.has_condition;
    if (parts && !is_parted_ &&
        ((gives_texts && may_go_on) || (!is_cut && !are_alike(now_.states, after)))) {
      // Each part would be a plan of its own.
      parts = false;
      now_.together = part_ = 0;
    }
    bool known_goes_on = true;
    if (!is_cut) {
      known_goes_on = call_.walker().know(goes_on).to_integers().at(0) != 0;
      parts |= is_parted_ && !known_goes_on;
    }
    if (parts && gives_texts)
      call_.refuse(ErrorCode::unsupported, "it stacks texts of rounds that a cut separates");
    if (!parts) {
      now_.states = std::move(after);
      now_.goes_on =
          known_goes_on && (is_parted_ || static_cast<std::int64_t>(given_.size()) < loop_.most);
      return;
    }
    // Once a cut has parted a round from the next, what is left may not be whole parts.
    const bool one_by_one = is_cut || part_ == 0 || (is_parted_ && now_.together == 1);
    now_ = rounds_->part({.goes_on = goes_on,
                          .before = std::move(now_.states),
                          .after = std::move(after),
                          .names = names_,
                          .given = std::exchange(given_, {}),
                          .joined = loop_.growing.size(),
                          .together = one_by_one ? 1 : part_});
    is_parted_ = true;
  }

  Call& call_;
  const DrivenLoop& loop_;
  const Values& initial_;
  const std::size_t first_;  ///< the body's output of the first state
  LoopState now_;
  std::vector<std::string_view> names_;  ///< of the states in `now_`
  std::unique_ptr<Rounds> rounds_;
  std::size_t part_ = 0;  ///< rounds that are traced together behind the first ones; 0: all
  bool is_parted_ = false;
  std::vector<Values> given_;  ///< of the rounds since some were parted
};

}  // namespace

Value stacked(const Call& call, const Values& rounds, std::int64_t axis) {
  if (rounds[0].is_texts()) return stacked_texts(call, rounds, axis);
  std::vector<Tensor> tensors;
  tensors.reserve(rounds.size());
  for (const Value& round : rounds) tensors.push_back(round.tensor());
  return {stack(tensors, axis), rounds[0].type()};
}

Values driven(Call& call, const DrivenLoop& loop, const Values& states) {
  return Driver{call, loop, states}.outputs();
}

}  // namespace stoker::onnx
