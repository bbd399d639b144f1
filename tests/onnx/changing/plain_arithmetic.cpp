#include <algorithm>
#include <optional>

#include "stoker/tests/onnx/changing/plain_operators.hpp"

namespace stoker::onnx {
namespace {

using Int = std::int64_t;

PlainRule plain_unary(Int (*of)(Int)) {
  return [of](const Node&, const PlainArrays& x) {
    PlainArray made = x.at(0);
    for (Int& one : made.data) one = of(one);
    return PlainArrays{made};
  };
}

PlainRule plain_binary(Int (*of)(Int, Int), std::optional<ElementType> type = {}) {
  return [of, type](const Node&, const PlainArrays& x) {
    return PlainArrays{made_of(type.value_or(x.at(0).type), broadcast_of(x),
                               [&](const auto& at) { return of(x.at(0).at(at), x.at(1).at(at)); })};
  };
}

/// `first`: of what the result starts with; nothing: the first element.
PlainRule plain_reduction(Int (*of)(Int, Int), std::optional<Int> first = {}) {
  return [of, first](const Node& node, const PlainArrays& operands) {
    const PlainArray& x = operands.at(0);
    std::vector<bool> is_reduced(x.shape.size(), operands.size() < 2);
    if (operands.size() > 1)
      for (const Int axis : operands[1].data)
        is_reduced.at(static_cast<std::size_t>(plain_axis(axis, x.rank()))) = true;
    PlainExtents kept, dropped;
    for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
      kept.push_back(is_reduced[axis] ? 1 : x.shape[axis]);
      if (!is_reduced[axis]) dropped.push_back(x.shape[axis]);
    }
    std::map<PlainExtents, Int> sums;
    made_of(x.type, x.shape, [&](PlainExtents at) {
      const Int element = x.at(at);
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        if (is_reduced[axis]) at[axis] = 0;
      const auto [place, is_new] = sums.try_emplace(at, first ? of(*first, element) : element);
      if (!is_new) place->second = of(place->second, element);
      return 0;
    });
    PlainArray made = made_of(x.type, kept, [&](const PlainExtents& at) {
      return first && !sums.contains(at) ? *first : sums.at(at);
    });
    if (node.integer("keepdims", 1) == 0) made.shape = dropped;
    return PlainArrays{made};
  };
}

PlainArrays plain_argmax(const Node& node, const PlainArrays& operands) {
  const PlainArray& x = operands.at(0);
  const auto axis = static_cast<std::size_t>(plain_axis(node.integer("axis", 0), x.rank()));
  PlainExtents shape = x.shape;
  shape[axis] = 1;
  PlainArray made = made_of(ElementType::s64, shape, [&](PlainExtents at) {
    Int best = 0;
    Int largest = x.at(at);
    for (Int i = 1; i < x.shape[axis]; ++i) {
      at[axis] = i;
      if (x.at(at) <= largest) continue;
      largest = x.at(at);
      best = i;
    }
    return best;
  });
  if (node.integer("keepdims", 1) == 0)
    made.shape.erase(made.shape.begin() + static_cast<Int>(axis));
  return {made};
}

PlainArrays plain_running_sum(const Node&, const PlainArrays& operands) {
  PlainArray x = operands.at(0);
  const auto axis = static_cast<std::size_t>(plain_axis(operands.at(1).data.at(0), x.rank()));
  return {made_of(x.type, x.shape, [&](PlainExtents at) {
    Int sum = 0;
    for (Int last = at[axis]; last >= 0; --last) {
      at[axis] = last;
      sum += x.at(at);
    }
    return sum;
  })};
}

PlainArrays plain_product(const Node&, const PlainArrays& x) {
  const PlainExtents shape{x.at(0).shape.at(0), x.at(1).shape.at(1)};
  return {made_of(x[0].type, shape, [&](const PlainExtents& at) {
    Int sum = 0;
    for (Int k = 0; k < x[0].shape.at(1); ++k) sum += x[0].at({at[0], k}) * x[1].at({k, at[1]});
    return sum;
  })};
}

PlainArrays plain_cast(const Node& node, const PlainArrays& operands) {
  PlainArray made = operands.at(0);
  made.type = static_cast<ElementType>(node.integer("to"));
  if (made.type == ElementType::boolean)
    for (Int& one : made.data) one = one != 0 ? 1 : 0;
  return {made};
}

PlainArrays plain_clip(const Node&, const PlainArrays& operands) {
  PlainArray made = operands.at(0);
  for (Int& one : made.data)
    one = std::min(std::max(one, operands.at(1).data.at(0)), operands.at(2).data.at(0));
  return {made};
}

PlainArrays plain_where(const Node&, const PlainArrays& x) {
  return {made_of(x.at(1).type, broadcast_of(x), [&](const PlainExtents& at) {
    return x[0].at(at) != 0 ? x[1].at(at) : x.at(2).at(at);
  })};
}

/// With the sign of the divisor.
Int floor_remainder(Int a, Int b) { return ((a % b) + b) % b; }

}  // namespace

void add_arithmetic(PlainRules& rules) {
  const auto truth = ElementType::boolean;
  rules["Abs"] = plain_unary([](Int a) { return a < 0 ? -a : a; });
  rules["Neg"] = plain_unary([](Int a) { return -a; });
  rules["Not"] = plain_unary([](Int a) { return a == 0 ? Int{1} : Int{0}; });
  rules["Identity"] = plain_unary([](Int a) { return a; });
  rules["Add"] = plain_binary([](Int a, Int b) { return a + b; });
  rules["Sub"] = plain_binary([](Int a, Int b) { return a - b; });
  rules["Mul"] = plain_binary([](Int a, Int b) { return a * b; });
  rules["Div"] = plain_binary([](Int a, Int b) { return a / b; });
  rules["Mod"] = plain_binary(&floor_remainder);
  rules["Max"] = plain_binary([](Int a, Int b) { return std::max(a, b); });
  rules["Min"] = plain_binary([](Int a, Int b) { return std::min(a, b); });
  rules["Greater"] = plain_binary([](Int a, Int b) -> Int { return a > b; }, truth);
  rules["Less"] = plain_binary([](Int a, Int b) -> Int { return a < b; }, truth);
  rules["LessOrEqual"] = plain_binary([](Int a, Int b) -> Int { return a <= b; }, truth);
  rules["Equal"] = plain_binary([](Int a, Int b) -> Int { return a == b; }, truth);
  rules["And"] = plain_binary([](Int a, Int b) { return a & b; });
  rules["Or"] = plain_binary([](Int a, Int b) { return a | b; });
  rules["Xor"] = plain_binary([](Int a, Int b) { return a ^ b; });
  rules["ReduceSum"] = plain_reduction([](Int a, Int b) { return a + b; }, 0);
  rules["ReduceMax"] = plain_reduction([](Int a, Int b) { return std::max(a, b); });
  rules["ReduceMin"] = plain_reduction([](Int a, Int b) { return std::min(a, b); });
  rules["ArgMax"] = &plain_argmax;
  rules["CumSum"] = &plain_running_sum;
  rules["MatMul"] = &plain_product;
  rules["Cast"] = &plain_cast;
  rules["Clip"] = &plain_clip;
  rules["Where"] = &plain_where;
}

}  // namespace stoker::onnx
