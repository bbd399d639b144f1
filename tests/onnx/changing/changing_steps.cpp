// What each step of a random graph adds.
#include <algorithm>
#include <limits>

#include "stoker/tests/onnx/changing/changing_graph.hpp"

namespace stoker::onnx {
namespace {

using Int = std::int64_t;

}  // namespace

ChangingGraph::Maybe ChangingGraph::unary() {
  const auto x = some([](const Item& one) { return one.type != truth_type; });
  if (!x) return {};
  if (one_in(3))
    return node("Clip", {x->name, scalar(-2, x->type).name, scalar(3, x->type).name},
                {{}, x->type, x->shape, 3});
  return node(one_in(2) ? "Neg" : one_in(2) ? "Abs" : "Identity", {x->name}, *x);
}

ChangingGraph::Maybe ChangingGraph::arithmetic() {
  const auto x = some([](const Item& one) { return one.type != truth_type; });
  if (!x) return {};
  Item y = scalar(below(7) - 3, x->type);
  if (!one_in(4))
    if (const auto found =
            some([&](const Item& one) { return one.type == x->type && joined(*x, one); }))
      y = *found;
  const auto shape = joined(*x, y);
  if (!shape || most_elements(*shape) > most_in_array) return {};
  if (x->type == number_type && one_in(6)) {
    const Int by = 2 + below(3);
    return node(one_in(2) ? "Div" : "Mod", {x->name, scalar(by).name},
                {{}, number_type, x->shape, x->bound});
  }
  const bool swaps = one_in(3);
  const std::vector<std::string> operands{swaps ? y.name : x->name, swaps ? x->name : y.name};
  if (one_in(4) && x->bound * y.bound <= most_bound)
    return kept_small(node("Mul", operands, {{}, x->type, *shape, x->bound * y.bound}));
  const char* const ops[] = {"Add", "Sub", "Max", "Min"};
  return kept_small(node(ops[below(4)], operands, {{}, x->type, *shape, x->bound + y.bound}));
}

ChangingGraph::Maybe ChangingGraph::comparison() {
  const auto x = some([](const Item& one) { return one.type != truth_type; });
  if (!x) return {};
  Item y = scalar(below(5) - 2, x->type);
  if (one_in(2))
    if (const auto found =
            some([&](const Item& one) { return one.type == x->type && joined(*x, one); }))
      y = *found;
  const auto shape = joined(*x, y);
  if (!shape || most_elements(*shape) > most_in_array) return {};
  const char* const ops[] = {"Greater", "Less", "Equal", "LessOrEqual"};
  return node(ops[below(4)], {x->name, y.name}, {{}, truth_type, *shape, 1});
}

ChangingGraph::Maybe ChangingGraph::logic() {
  const auto x = some([](const Item& one) { return one.type == truth_type; });
  if (!x) return {};
  const auto y = some([&](const Item& one) { return one.type == truth_type && joined(*x, one); });
  if (!y || one_in(3)) return node("Not", {x->name}, *x);
  const char* const ops[] = {"And", "Or", "Xor"};
  return node(ops[below(3)], {x->name, y->name}, {{}, truth_type, *joined(*x, *y), 1});
}

ChangingGraph::Maybe ChangingGraph::choice() {
  const auto condition = some([](const Item& one) { return one.type == truth_type; });
  if (!condition) return {};
  const auto x = some([&](const Item& one) { return joined(*condition, one).has_value(); });
  if (!x) return {};
  Item whole = *x;
  whole.shape = *joined(*condition, *x);
  const auto y = some([&](const Item& one) { return one.type == x->type && joined(whole, one); });
  if (!y || most_elements(*joined(whole, *y)) > most_in_array) return {};
  return node("Where", {condition->name, x->name, y->name},
              {{}, x->type, *joined(whole, *y), std::max(x->bound, y->bound)});
}

ChangingGraph::Maybe ChangingGraph::conversion() {
  const auto x = some_of_rank(0, 3);
  const ElementType types[] = {number_type, ElementType::f32, truth_type};
  return cast(*x, types[below(3)]);
}

ChangingGraph::Maybe ChangingGraph::reduction() {
  const auto x = some([](const Item& one) { return one.type != truth_type && !one.shape.empty(); });
  if (!x) return {};
  const bool sums = !is_never_empty(*x) || one_in(2);
  const Int bound = sums ? x->bound * std::max<Int>(1, most_elements(x->shape)) : x->bound;
  if (bound > most_bound) return {};
  const bool keeps = one_in(2);
  std::vector<std::string> inputs{x->name};
  Item made{{}, x->type, {}, bound};
  if (one_in(3)) {
    if (keeps) made.shape.assign(x->shape.size(), Extent{1});
  } else {
    const std::size_t axis = axis_of(*x);
    inputs.push_back(
        constant({one_in(2) ? static_cast<Int>(axis)
                            : static_cast<Int>(axis) - static_cast<Int>(x->shape.size())})
            .name);
    made.shape = x->shape;
    made.shape[axis] = {1};
    if (!keeps) made.shape.erase(made.shape.begin() + static_cast<Int>(axis));
  }
  return kept_small(node(sums        ? "ReduceSum"
                         : one_in(2) ? "ReduceMax"
                                     : "ReduceMin",
                         inputs, made, {named("keepdims", Int{keeps})}));
}

ChangingGraph::Maybe ChangingGraph::position() {
  const auto x = some([&](const Item& one) {
    return one.type != truth_type && !one.shape.empty() && is_never_empty(one);
  });
  if (!x) return {};
  const std::size_t axis = axis_of(*x);
  Item made{{}, number_type, x->shape, most(x->shape[axis])};
  made.shape.erase(made.shape.begin() + static_cast<Int>(axis));
  return node("ArgMax", {x->name}, made,
              {with_axis(static_cast<Int>(axis)), named("keepdims", Int{0})});
}

ChangingGraph::Maybe ChangingGraph::running_sum() {
  const auto x = some([](const Item& one) { return one.type != truth_type && !one.shape.empty(); });
  if (!x) return {};
  const std::size_t axis = axis_of(*x);
  const Int bound = x->bound * std::max<Int>(1, most(x->shape[axis]));
  if (bound > most_bound) return {};
  return kept_small(node("CumSum", {x->name, scalar(static_cast<Int>(axis)).name},
                         {{}, x->type, x->shape, bound}));
}

ChangingGraph::Maybe ChangingGraph::matrix_product() {
  const auto x =
      some([](const Item& one) { return one.type != truth_type && one.shape.size() == 2; });
  if (!x) return {};
  const Int bound = x->bound * x->bound * std::max<Int>(1, most(x->shape[1]));
  if (bound > most_bound) return {};
  const Item right =
      node("Transpose", {x->name}, {{}, x->type, {x->shape[1], x->shape[0]}, x->bound},
           {named("perm", std::vector<Int>{1, 0})});
  return kept_small(
      node("MatMul", {x->name, right.name}, {{}, x->type, {x->shape[0], x->shape[0]}, bound}));
}

ChangingGraph::Maybe ChangingGraph::transposed() {
  const auto x = some_of_rank(2, 3);
  if (!x) return {};
  std::vector<Int> perm{0, 1, 2};
  perm.resize(x->shape.size());
  std::shuffle(perm.begin(), perm.end(), random_);
  Item made = *x;
  for (std::size_t i = 0; i < perm.size(); ++i)
    made.shape[i] = x->shape[static_cast<std::size_t>(perm[i])];
  return node("Transpose", {x->name}, made, {named("perm", perm)});
}

ChangingGraph::Maybe ChangingGraph::concatenated() {
  const auto x = some_of_rank(1, 3);
  if (!x) return {};
  const std::size_t axis = axis_of(*x);
  const auto y = some([&](const Item& one) {
    Item like = one;
    if (one.type != x->type || one.shape.size() != x->shape.size()) return false;
    like.shape[axis] = x->shape[axis];
    return like.shape == x->shape;
  });
  if (!y) return {};
  Item made{{}, x->type, x->shape, std::max(x->bound, y->bound)};
  const Extent &a = x->shape[axis], &b = y->shape[axis];
  made.shape[axis] = a.place || b.place ? changing(least(a) + least(b), most(a) + most(b))
                                        : Extent{a.number + b.number};
  if (most_elements(made.shape) > most_in_array) return {};
  return node("Concat", {x->name, y->name}, made, {with_axis(static_cast<Int>(axis))});
}

ChangingGraph::Maybe ChangingGraph::sliced() {
  const auto x = some_of_rank(1, 3);
  if (!x) return {};
  const std::size_t axis = axis_of(*x);
  const Extent extent = x->shape[axis];
  Item made = *x;
  Int start = 0, end = std::numeric_limits<Int>::max(), step = 1;
  switch (below(4)) {
    case 0:  // backwards
      start = -1;
      end = std::numeric_limits<Int>::min();
      step = -1;
      break;
    case 1:  // all but the first
      start = 1;
      made.shape[axis] =
          changing(std::max<Int>(0, least(extent) - 1), std::max<Int>(0, most(extent) - 1));
      break;
    case 2:  // the last two at most
      start = -2;
      made.shape[axis] = changing(std::min<Int>(2, least(extent)), std::min<Int>(2, most(extent)));
      break;
    default:
      step = 2;
      made.shape[axis] = changing((least(extent) + 1) / 2, (most(extent) + 1) / 2);
      break;
  }
  return node("Slice",
              {x->name, constant({start}).name, constant({end}).name,
               constant({static_cast<Int>(axis)}).name, constant({step}).name},
              made);
}

ChangingGraph::Maybe ChangingGraph::sliced_to_number() {
  const auto x = some_of_rank(1, 3);
  if (!x) return {};
  const std::size_t axis = axis_of(*x);
  return first_of(*x, axis, small_number(4), 4);
}

ChangingGraph::Maybe ChangingGraph::gathered() {
  const auto x = some([&](const Item& one) { return !one.shape.empty() && is_never_empty(one); });
  if (!x) return {};
  const std::size_t axis = axis_of(*x);
  Item made = *x;
  made.shape.erase(made.shape.begin() + static_cast<Int>(axis));
  if (one_in(3)) {
    const Item at = one_in(2) ? scalar(-1) : scalar(below(least(x->shape[axis])));
    return node("Gather", {x->name, at.name}, made, {with_axis(static_cast<Int>(axis))});
  }
  const auto index =
      some([](const Item& one) { return one.type == number_type && one.shape.size() <= 1; });
  if (!index) return {};
  const Item extents =
      node("Shape", {x->name},
           {{}, number_type, {Extent{static_cast<Int>(x->shape.size())}}, most_in_array});
  const Item extent = node("Gather", {extents.name, scalar(static_cast<Int>(axis)).name},
                           {{}, number_type, {}, most_in_array});
  const Item within = node("Mod", {index->name, extent.name},
                           {{}, number_type, index->shape, most(x->shape[axis])});
  made.shape.insert(made.shape.begin() + static_cast<Int>(axis), index->shape.begin(),
                    index->shape.end());
  if (most_elements(made.shape) > most_in_array) return {};
  return node("Gather", {x->name, within.name}, made, {with_axis(static_cast<Int>(axis))});
}

ChangingGraph::Maybe ChangingGraph::reshaped() {
  const auto x = some_of_rank(0, 3);
  if (!x || x->shape.size() < 2 || one_in(3)) return flat(*x);
  Item made = *x;
  if (one_in(2)) {  // the shape backwards, as the host computes it
    std::reverse(made.shape.begin(), made.shape.end());
    const Extent rank{static_cast<Int>(x->shape.size())};
    const Item extents = node("Shape", {x->name}, {{}, number_type, {rank}, most_in_array});
    std::vector<Int> order;
    for (Int i = rank.number; i-- > 0;) order.push_back(i);
    const Item backwards = node("Gather", {extents.name, constant(order).name},
                                {{}, number_type, {rank}, most_in_array});
    return node("Reshape", {x->name, backwards.name}, made, {named("allowzero", Int{1})});
  }
  if (least(x->shape[0]) == 0) return {};  // -1 would have no meaning
  made.shape = {x->shape[0], product({x->shape.begin() + 1, x->shape.end()})};
  return node("Reshape", {x->name, constant({0, -1}).name}, made);
}

ChangingGraph::Maybe ChangingGraph::squeezed() {
  const auto x = some_of_rank(0, 3);
  Item made = *x;
  const auto single = std::ranges::find(made.shape, Extent{1});
  if (single != made.shape.end()) {
    const Int axis = single - made.shape.begin();
    made.shape.erase(single);
    return node("Squeeze", {x->name, constant({axis}).name}, made);
  }
  if (made.shape.size() == 3) return {};
  const Int axis = below(static_cast<Int>(made.shape.size()) + 1);
  made.shape.insert(made.shape.begin() + axis, Extent{1});
  return node("Unsqueeze", {x->name, constant({axis}).name}, made);
}

ChangingGraph::Maybe ChangingGraph::expanded() {
  const auto x = some_of_rank(0, 3);
  const auto like = some([&](const Item& one) { return joined(*x, one).has_value(); });
  if (!like || most_elements(*joined(*x, *like)) > most_in_array) return {};
  const Item extents =
      node("Shape", {like->name},
           {{}, number_type, {Extent{static_cast<Int>(like->shape.size())}}, most_in_array});
  return node("Expand", {x->name, extents.name}, {{}, x->type, *joined(*x, *like), x->bound});
}

ChangingGraph::Maybe ChangingGraph::tiled() {
  const auto x = some_vector();
  if (!x || most_elements(x->shape) > 60) return {};
  const Item times = one_in(2) ? scalar(2) : small_number(2);
  const Item made{{}, x->type, {changing(0, 2 * most(x->shape[0]))}, x->bound};
  return node(
      "Tile",
      {x->name,
       node("Reshape", {times.name, constant({1}).name}, {{}, number_type, {Extent{1}}, 2}).name},
      made);
}

ChangingGraph::Maybe ChangingGraph::padded() {
  const auto x =
      some([](const Item& one) { return one.type != truth_type && one.shape.size() == 1; });
  if (!x) return {};
  const Item behind = node("Reshape", {small_number(2).name, constant({1}).name},
                           {{}, number_type, {Extent{1}}, 2});
  const Item pads = node("Concat", {constant({below(2)}).name, behind.name},
                         {{}, number_type, {Extent{2}}, 2}, {with_axis(0)});
  return node("Pad", {x->name, pads.name},
              {{}, x->type, {changing(least(x->shape[0]), most(x->shape[0]) + 3)}, x->bound});
}

ChangingGraph::Maybe ChangingGraph::range() {
  return node("Range", {scalar(0).name, small_number(5).name, scalar(1).name},
              {{}, number_type, {changing(0, 5)}, 5});
}

ChangingGraph::Maybe ChangingGraph::filled() {
  const auto like = some_of_rank(1, 3);
  if (!like) return {};
  const Item extents =
      node("Shape", {like->name},
           {{}, number_type, {Extent{static_cast<Int>(like->shape.size())}}, most_in_array});
  return node("ConstantOfShape", {extents.name}, {{}, number_type, like->shape, 3},
              {named("value", integers({3}))});
}

ChangingGraph::Maybe ChangingGraph::extents_of() {
  const auto x = some_of_rank(0, 3);
  if (one_in(2) || x->shape.empty())
    return node("Size", {x->name}, {{}, number_type, {}, most_in_array});
  return node("Shape", {x->name},
              {{}, number_type, {Extent{static_cast<Int>(x->shape.size())}}, most_in_array});
}

ChangingGraph::Maybe ChangingGraph::of_equal_length() {
  const auto x =
      some([](const Item& one) { return one.type != truth_type && one.shape.size() == 1; });
  if (!x) return {};
  const auto y =
      some([&](const Item& one) { return one.type == x->type && one.shape.size() == 1; });
  const auto size = [&](const Item& one) {
    return node("Size", {one.name}, {{}, number_type, {}, most_in_array});
  };
  const Item count =
      node("Min", {size(*x).name, size(*y).name}, {{}, number_type, {}, most_in_array});
  const Item a = first_of(*x, 0, count, most(y->shape[0]));
  Item b = first_of(*y, 0, count, most(x->shape[0]));
  return kept_small(node("Add", {a.name, b.name}, {{}, x->type, a.shape, a.bound + b.bound}));
}

}  // namespace stoker::onnx
