// The steps of a random graph that find elements by their values.
#include <algorithm>

#include "stoker/tests/onnx/changing/changing_graph.hpp"

namespace stoker::onnx {
namespace {

using Int = std::int64_t;

}  // namespace

ChangingGraph::Maybe ChangingGraph::non_zero() {
  const auto x = some_of_rank(1, 2);
  if (!x || most_elements(x->shape) > 60) return {};
  return node("NonZero", {x->name},
              {{},
               number_type,
               {Extent{static_cast<Int>(x->shape.size())}, changing(0, most_elements(x->shape))},
               most_in_array});
}

ChangingGraph::Maybe ChangingGraph::compressed() {
  const auto x = some([](const Item& one) { return !one.shape.empty(); });
  if (!x) return {};
  const std::size_t axis = axis_of(*x);
  const bool is_flat = one_in(3);
  const auto condition =
      some([&](const Item& one) { return one.type == truth_type && one.shape.size() == 1; });
  Item chosen;
  if (condition && most(condition->shape[0]) <= (is_flat ? 0 : least(x->shape[axis]))) {
    chosen = *condition;  // a shorter one leaves the rest out
  } else if (is_flat || x->shape.size() == 1) {
    const Item all = cast(flat(*x), number_type);
    chosen = node("Greater", {all.name, scalar(below(3) - 1).name}, {{}, truth_type, all.shape, 1});
  } else {
    const auto match = some([&](const Item& one) {
      return one.type != truth_type && one.shape.size() == 1 && one.shape[0] == x->shape[axis];
    });
    if (!match) return {};
    chosen =
        node("Less", {match->name, scalar(1, match->type).name}, {{}, truth_type, match->shape, 1});
  }
  Item made = *x;
  if (is_flat) {
    made.shape = {changing(0, most_elements(x->shape))};
    return node("Compress", {x->name, chosen.name}, made);
  }
  made.shape[axis] = changing(0, most(x->shape[axis]));
  return node("Compress", {x->name, chosen.name}, made, {with_axis(static_cast<Int>(axis))});
}

ChangingGraph::Maybe ChangingGraph::unique() {
  const auto x = some([&](const Item& one) {
    return one.type != truth_type && !one.shape.empty() && is_never_empty(one) &&
           most_elements(one.shape) <= 60;
  });
  if (!x) return {};
  const bool is_flat = x->shape.size() == 1 || one_in(2);
  const std::size_t axis = axis_of(*x);
  Attributes attributes{named("sorted", below(2))};
  if (!is_flat) attributes.push_back(with_axis(static_cast<Int>(axis)));
  const Extent all = is_flat ? product(x->shape) : x->shape[axis];
  const Extent groups = changing(1, most(all));
  Item made{name(), x->type, x->shape, x->bound};
  if (is_flat)
    made.shape = {groups};
  else
    made.shape[axis] = groups;
  const Item first{name(), number_type, {groups}, most(all)},
      inverse{name(), number_type, {all}, most(all)},
      counts{name(), number_type, {groups}, most(all)};
  builders_.back().node("Unique", {x->name}, {made.name, first.name, inverse.name, counts.name},
                        attributes);
  items_.insert(items_.end(), {first, inverse, counts, made});
  return made;
}

ChangingGraph::Maybe ChangingGraph::suppressed() {
  const auto x = some([](const Item& one) {
    return one.type != truth_type && one.shape.size() == 1 && one.bound < most_bound / 8;
  });
  if (!x || most(x->shape[0]) > 60) return {};
  const Item column = node("Unsqueeze", {cast(*x, ElementType::f32).name, constant({0, 2}).name},
                           {{}, ElementType::f32, {Extent{1}, x->shape[0], Extent{1}}, x->bound});
  const auto side = [&](const char* op, Int by) {
    return node(op, {column.name, scalar(by, ElementType::f32).name},
                {{}, ElementType::f32, column.shape, 4 * x->bound + 4})
        .name;
  };
  const Item boxes =
      node("Concat", {side("Mul", 2), side("Sub", 1), side("Mul", 3), side("Add", 1 + below(2))},
           {{}, ElementType::f32, {Extent{1}, x->shape[0], Extent{4}}, 4 * x->bound + 4},
           {with_axis(2)});
  const Item scores = node("Transpose", {column.name},
                           {{}, ElementType::f32, {Extent{1}, Extent{1}, x->shape[0]}, x->bound},
                           {named("perm", std::vector<Int>{0, 2, 1})});
  const Item count = node("Reshape", {small_number(4).name, constant({1}).name},
                          {{}, number_type, {Extent{1}}, 4});
  std::vector<std::string> inputs{boxes.name, scores.name, count.name};
  if (one_in(2)) inputs.insert(inputs.end(), {"", scalar(-1, ElementType::f32).name});
  return node("NonMaxSuppression", inputs,
              {{}, number_type, {changing(0, std::min<Int>(4, most(x->shape[0]))), Extent{3}}, 60});
}

ChangingGraph::Maybe ChangingGraph::top() {
  const auto x =
      some([&](const Item& one) { return one.type != truth_type && one.shape.size() == 1; });
  if (!x) return {};
  const Item size = node("Shape", {x->name}, {{}, number_type, {Extent{1}}, most_in_array});
  const Item count = node("Min", {size.name, one_in(2) ? scalar(3).name : small_number(3).name},
                          {{}, number_type, {Extent{1}}, 3});
  const Extent kept = changing(0, std::min<Int>(3, most(x->shape[0])));
  const Item values{name(), x->type, {kept}, x->bound},
      places{name(), number_type, {kept}, most(x->shape[0])};
  builders_.back().node("TopK", {x->name, count.name}, {values.name, places.name},
                        {named("largest", below(2))});
  items_.insert(items_.end(), {places, values});
  return values;
}

ChangingGraph::Maybe ChangingGraph::sequenced() {
  const auto x = some_vector();
  if (!x) return {};
  const auto y =
      some([&](const Item& one) { return one.type == x->type && one.shape.size() == 1; });
  // The sequence itself is no item: no other step knows what to do with it.
  const auto sequence = [&](const std::string& op, const std::vector<std::string>& inputs) {
    std::string made = name();
    builders_.back().node(op, inputs, {made});
    return made;
  };
  std::string all = sequence("SequenceConstruct", {x->name, y->name, x->name});
  const Int most_length = std::max(most(x->shape[0]), most(y->shape[0]));
  Item made{{}, x->type, {}, std::max(x->bound, y->bound)};
  Int count = 3;
  if (one_in(2)) {
    all = sequence("SequenceInsert", {all, y->name, small_number(3).name});
    ++count;
  }
  if (one_in(3)) {
    all = sequence("SequenceErase", {all, small_number(1).name});
    --count;
  }
  if (one_in(4)) return node("SequenceLength", {all}, {{}, number_type, {}, count});
  if (one_in(2) && count * most_length <= most_in_array) {
    made.shape = {changing(0, count * most_length)};
    return node("ConcatFromSequence", {all}, made, {with_axis(0)});
  }
  made.shape = {changing(std::min(least(x->shape[0]), least(y->shape[0])), most_length)};
  return node("SequenceAt", {all, small_number(1).name}, made);
}

}  // namespace stoker::onnx
