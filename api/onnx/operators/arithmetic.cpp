// Functions of two and more operands, element by element: arithmetic, comparisons, logic, bits, choices.
#include <cmath>
#include <functional>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::arithmetic {
namespace {

using TwoTensors = Tensor (*)(const TensorLike&, const TensorLike&);
using HostRule = std::function<std::optional<Values>(Call&)>;

/// F of the two, where integers wrap as a device's do.
template <class F, class T> T wrapped(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(
        F{}(static_cast<std::make_unsigned_t<T>>(a), static_cast<std::make_unsigned_t<T>>(b)));
  else
    return F{}(a, b);
}

/// Before version 7 the second operand broadcasts where the node says so, from `axis` on.
Tensor second(const Call& call) {
  Tensor b = call.x(1);
  if (call.version() >= 7 || !call.node().has("axis")) return b;
  const std::int64_t axis = axis_in(call.node().integer("axis"), call.rank(0));
  Axes extents = extents_of(b.shape());
  while (static_cast<std::int64_t>(extents.size()) + axis < call.rank(0)) extents.push_back(1);
  return reshape(b, extents);
}

void add_arithmetic(OperatorTable& table, const char* name, std::vector<int> since, TwoTensors f,
                    HostRule host) {
  table.add({.name = name,
             .since = std::move(since),
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(number_types),
             .attributes = {"axis", "broadcast", "consumed_inputs"},
             .host = [host = std::move(host)](Call& call) -> std::optional<Values> {
               if (call.version() < 7) return {};
               return host(call);
             },
             .lower = [f](Call& call) { return Values{call.like(f(call.x(0), second(call)))}; }});
}

/// Of numbers, or of truths.
void add_comparison(OperatorTable& table, const char* name, std::vector<int> since, TypeSet types,
                    TwoTensors f, HostRule host) {
  table.add(
      {.name = name,
       .since = std::move(since),
       .least_inputs = 2,
       .most_inputs = 2,
       .types = {.operands = {types, like(0)}, .results = {ElementType::boolean}},
       .attributes = {"axis", "broadcast"},
       .host = std::move(host),
       .lower = [f](Call& call) { return Values{Call::condition(f(call.x(0), second(call)))}; }});
}

Values equal_rule(Call& call) {
  if (!call.input(0).is_texts()) return {Call::condition(equal(call.x(0), second(call)))};
  const Texts& a = call.input(0).texts();
  const Texts& b = call.input(1).texts();
  const Shape shape = broadcast_shape(call);
  const auto at_a = broadcast_positions(a.shape, shape);
  const auto at_b = broadcast_positions(b.shape, shape);
  std::vector<std::int64_t> same;
  for (std::size_t i = 0; i < at_a.size(); ++i)
    same.push_back(a.strings[static_cast<std::size_t>(at_a[i])] ==
                   b.strings[static_cast<std::size_t>(at_b[i])]);
  return {Known::integers(same, shape, ElementType::boolean)};
}

/// The remainder has the sign of the dividend with fmod, else that of the divisor.
Values mod(Call& call) {
  const Tensor a = call.x(0);
  const Tensor b = call.x(1);
  const Tensor r = remainder(a, b);
  if (call.node().flag("fmod", false) || !is_signed(a.dtype())) return {call.like(r)};
  const Tensor differ = logical_and(not_equal(r, 0), not_equal(less(r, 0), less(b, 0)));
  return {call.like(select(differ, r + b, r))};
}

Values divided(Call& call) {
  const Tensor a = call.x(0);
  const Tensor b = second(call);
  return {call.like(is_integer(a.dtype()) ? quotient(a, b) : divide(a, b))};
}

/// A fold over one operand or more.
void add_fold(OperatorTable& table, const char* name, std::vector<int> since, TypeSet types,
              TwoTensors f, bool is_mean = false) {
  table.add({.name = name,
             .since = std::move(since),
             .most_inputs = Operator::any_number,
             .types = alike(types),
             .attributes = {"consumed_inputs"},
             .lower = [f, is_mean](Call& call) {
               const std::vector<Tensor> all = call.tensors();
               Tensor y = all[0];
               for (std::size_t i = 1; i < all.size(); ++i) y = f(y, all[i]);
               if (is_mean) y = y / static_cast<double>(all.size());
               return Values{call.like(y)};
             }});
}

Values clip_rule(Call& call) {
  Tensor y = call.x();
  const Node& node = call.node();
  if (call.has(1)) y = max(y, call.x(1));
  if (call.has(2)) y = min(y, call.x(2));
  if (call.version() < 11) {
    if (node.has("min")) y = max(y, static_cast<double>(node.real("min")));
    if (node.has("max")) y = min(y, static_cast<double>(node.real("max")));
  }
  return {call.like(y)};
}

std::optional<Values> where_on_host(Call& call) {
  const Shape shape = broadcast_shape(call);
  if (!is_small(shape)) return {};
  const auto conditions = call.input(0).known().to_integers();
  const Known yes = call.input(1).known();
  const Known no = call.input(2).known();
  if (!yes.holds_integers() || yes.type() != no.type()) return {};
  const auto at = broadcast_positions(call.shape(0), shape);
  const auto at_yes = broadcast_positions(yes.shape(), shape);
  const auto at_no = broadcast_positions(no.shape(), shape);
  const auto of_yes = yes.to_integers();
  const auto of_no = no.to_integers();
  std::vector<std::int64_t> made;
  for (std::size_t i = 0; i < at.size(); ++i)
    made.push_back(conditions[static_cast<std::size_t>(at[i])] != 0
                       ? of_yes[static_cast<std::size_t>(at_yes[i])]
                       : of_no[static_cast<std::size_t>(at_no[i])]);
  return Values{Known::integers(made, shape, yes.type())};
}

Values where_rule(Call& call) {
  if (!call.input(1).is_texts()) return {call.like(select(call.x(0), call.x(1), call.x(2)), 1)};
  const Shape shape = broadcast_shape(call);
  const auto conditions = call.known(0).to_integers();
  const auto at = broadcast_positions(call.shape(0), shape);
  const auto at_yes = broadcast_positions(call.shape(1), shape);
  const auto at_no = broadcast_positions(call.shape(2), shape);
  Texts made{.shape = shape, .strings = {}};
  for (std::size_t i = 0; i < at.size(); ++i)
    made.strings.push_back(conditions[static_cast<std::size_t>(at[i])] != 0
                               ? call.input(1).texts().strings[static_cast<std::size_t>(at_yes[i])]
                               : call.input(2).texts().strings[static_cast<std::size_t>(at_no[i])]);
  return {Value{std::move(made)}};
}

void define_comparisons(OperatorTable& table) {
  const auto boolean = ElementType::boolean;
  const auto host = [boolean](auto f) {
    return [boolean, f](Call& call) { return binary_on_host(call, f, boolean); };
  };
  table.add(
      {.name = "Equal",
       .since = {1, 7, 11, 13, 19},
       .least_inputs = 2,
       .most_inputs = 2,
       .types = {.operands = {number_types | ElementType::boolean | ElementType::string, like(0)},
                 .results = {ElementType::boolean}},
       .attributes = {"axis", "broadcast"},
       .host = host([](auto a, auto b) { return std::int64_t{a == b}; }),
       .lower = &equal_rule});
  add_comparison(table, "Less", {1, 7, 9, 13}, number_types, &less,
                 host([](auto a, auto b) { return std::int64_t{a < b}; }));
  add_comparison(table, "LessOrEqual", {12, 16}, number_types, &less_equal,
                 host([](auto a, auto b) { return std::int64_t{a <= b}; }));
  add_comparison(table, "Greater", {1, 7, 9, 13}, number_types, &greater,
                 host([](auto a, auto b) { return std::int64_t{a > b}; }));
  add_comparison(table, "GreaterOrEqual", {12, 16}, number_types, &greater_equal,
                 host([](auto a, auto b) { return std::int64_t{a >= b}; }));
  add_comparison(table, "And", {1, 7}, ElementType::boolean, &logical_and,
                 host([](auto a, auto b) { return std::int64_t{a != 0 && b != 0}; }));
  add_comparison(table, "Or", {1, 7}, ElementType::boolean, &logical_or,
                 host([](auto a, auto b) { return std::int64_t{a != 0 || b != 0}; }));
  add_comparison(table, "Xor", {1, 7}, ElementType::boolean, &logical_xor,
                 host([](auto a, auto b) { return std::int64_t{(a != 0) != (b != 0)}; }));
  table.add(
      {.name = "Not",
       .types = alike(ElementType::boolean),
       .host =
           [](Call& call) { return unary_on_host(call, [](auto a) { return a == 0 ? 1 : 0; }); },
       .lower = [](Call& call) { return Values{Call::condition(logical_not(call.x()))}; }});
}

void define_bits(OperatorTable& table) {
  const auto add_bits = [&](const char* name, TwoTensors f) {
    table.add({.name = name,
               .since = {18},
               .least_inputs = 2,
               .most_inputs = 2,
               .types = alike(integer_types),
               .lower = [f](Call& call) { return Values{call.like(f(call.x(0), call.x(1)))}; }});
  };
  add_bits("BitwiseAnd", &bitwise_and);
  add_bits("BitwiseOr", &bitwise_or);
  add_bits("BitwiseXor", &bitwise_xor);
  table.add(
      {.name = "BitwiseNot", .since = {18}, .types = alike(integer_types), .lower = [](Call& call) {
         return Values{call.like(bitwise_not(call.x()))};
       }});
  table.add({.name = "BitShift",
             .since = {11},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(unsigned_types),
             .attributes = {"direction"},
             .lower = [](Call& call) {
               const std::string direction = call.node().text("direction");
               if (direction != "LEFT" && direction != "RIGHT")
                 call.refuse(ErrorCode::invalid_parameter, "direction '" + direction + "'");
               return Values{call.like(direction == "LEFT" ? left_shift(call.x(0), call.x(1))
                                                           : right_shift(call.x(0), call.x(1)))};
             }});
}

}  // namespace

void define(OperatorTable& table) {
  add_arithmetic(table, "Add", {1, 6, 7, 13, 14}, &add, [](Call& call) {
    return binary_on_host(call, [](auto a, auto b) { return wrapped<std::plus<>>(a, b); });
  });
  add_arithmetic(table, "Sub", {1, 6, 7, 13, 14}, &subtract, [](Call& call) {
    return binary_on_host(call, [](auto a, auto b) { return wrapped<std::minus<>>(a, b); });
  });
  add_arithmetic(table, "Mul", {1, 6, 7, 13, 14}, &multiply, [](Call& call) {
    return binary_on_host(call, [](auto a, auto b) { return wrapped<std::multiplies<>>(a, b); });
  });
  table.add({.name = "Div",
             .since = {1, 6, 7, 13, 14},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(number_types),
             .attributes = {"axis", "broadcast", "consumed_inputs"},
             .host = [](Call& call) -> std::optional<Values> {
               if (call.version() < 7) return {};
               return binary_on_host(call, []<class T>(T a, T b) -> T {
                 if constexpr (std::is_integral_v<T>)
                   return b == 0 ? 0 : b == -1 ? wrapped<std::minus<>>(T{0}, a) : a / b;
                 else
                   return a / b;
               });
             },
             .lower = &divided});
  table.add({.name = "Mod",
             .since = {10, 13},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(number_types),
             .attributes = {"fmod"},
             .lower = &mod});
  table.add({.name = "Pow",
             .since = {1, 7, 12, 13, 15},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = {.operands = {float_types | index_types, number_types}, .results = {like(0)}},
             .attributes = {"axis", "broadcast"},
             .lower = [](Call& call) {
               // A power that is a float is computed as one; the result has the base's type.
               return Values{call.like(pow(call.x(0), second(call)))};
             }});
  add_fold(table, "Sum", {1, 6, 8, 13}, float_types, &add);
  add_fold(table, "Mean", {1, 6, 8, 13}, float_types, &add, true);
  add_fold(table, "Max", {1, 6, 8, 12, 13}, number_types, &max);
  add_fold(table, "Min", {1, 6, 8, 12, 13}, number_types, &min);
  table.add({.name = "Clip",
             .since = {1, 6, 11, 12, 13},
             .most_inputs = 3,
             .types = alike(number_types),
             .attributes = {"min", "max", "consumed_inputs"},
             .lower = &clip_rule});
  table.add({.name = "Where",
             .since = {9, 16},
             .least_inputs = 3,
             .most_inputs = 3,
             .types = {.operands = {ElementType::boolean, any_type, like(1)}, .results = {like(1)}},
             .host = &where_on_host,
             .lower = &where_rule});
  define_comparisons(table);
  define_bits(table);
}

}  // namespace stoker::onnx::operators::arithmetic
