#include <algorithm>

#include "stoker/pipeline/tensor/complex/complex_rules.hpp"

namespace stoker::expr::complex_rules {
namespace {

using List = std::vector<std::int64_t>;

std::int64_t rank_of(const Value& x) { return static_cast<std::int64_t>(x.shape().rank()); }

/// The same operation on pairs, with its attributes as `change` makes them. The pairs' axis is the last,
/// so whatever names other axes from the front goes on as it is.
Value on_pairs(const Call& call, const std::function<void(Params&, const Call&)>& change) {
  Params params = call.attributes.params();
  change(params, call);
  Values inputs;
  for (const Value& input : call.inputs)
    inputs.push_back(is_complex(input.dtype()) ? view_as_real(input) : input);
  return view_as_complex(apply_one(call.op, std::move(inputs), Attributes{std::move(params)}));
}

Rule pairs(std::function<void(Params&, const Call&)> change) {
  return [change = std::move(change)](const Call& call) { return on_pairs(call, change); };
}

void append(Params& params, const char* name, const Call& call, std::int64_t value) {
  List list = call.attributes.integers(name);
  list.push_back(value);
  params.set(name, std::move(list));
}

/// Axes counted from the front, since the last one has become another.
void count_from_front(Params& params, const Call& call) {
  const std::int64_t axis = call.attributes.integer("axis");
  params.set("axis", axis < 0 ? axis + rank_of(call.x()) : axis);
}

/// A list of no axes means all of them.
void name_axes(Params& params, const Call& call) {
  List axes = call.attributes.integers("axes");
  if (axes.empty()) axes = all_axes(call.x().shape().rank());
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += rank_of(call.x());
  params.set("axes", std::move(axes));
}

/// An operation that is linear in its complex operands, part by part.
Value on_parts(const Call& call) {
  const auto of = [&](Value (*part)(const Value&)) {
    Values inputs;
    for (const Value& input : call.inputs)
      inputs.push_back(is_complex(input.dtype()) ? part(input) : input);
    return apply_one(call.op, std::move(inputs), call.attributes);
  };
  return complex(of(&real), of(&imag));
}

Value reduced(const Call& call) {
  // A kernel takes no axes for all; over all axes of a scalar there is nothing to do.
  if (call.x().shape().rank() == 0) return call.x();
  return on_pairs(call, &name_axes);
}

Value along_last(const Value& x, std::int64_t start, std::int64_t length) {
  List starts(x.shape().rank(), 0);
  List lengths(x.shape().begin(), x.shape().end());
  starts.back() = start;
  lengths.back() = length;
  return slice(x, starts, lengths, List(x.shape().rank(), 1));
}

/// Halves are multiplied until one element is left.
Value product(const Call& call) {
  const Shape& shape = call.x().shape();
  if (shape.rank() == 0) return call.x();
  Params named = call.attributes.params();
  name_axes(named, call);
  const List axes = Attributes{named}.integers("axes");
  List order;
  List kept;
  std::int64_t count = 1;
  for (std::int64_t axis = 0; axis < rank_of(call.x()); ++axis) {
    if (std::ranges::find(axes, axis) != axes.end()) continue;
    order.push_back(axis);
    kept.push_back(shape[static_cast<std::size_t>(axis)]);
  }
  for (const std::int64_t axis : axes) {
    order.push_back(axis);
    count *= shape[static_cast<std::size_t>(axis)];
  }
  const Shape result = Shape::make(kept, "product");
  kept.push_back(count);
  Value rest = reshape(transpose(call.x(), order), Shape::make(kept, "product"));
  if (count == 0) rest = constant(1, rest.dtype(), result);
  for (; count > 1; count = (count + 1) / 2) {
    const std::int64_t half = count / 2;
    const Value multiplied = along_last(rest, 0, half) * along_last(rest, half, half);
    const std::array<Value, 2> both{multiplied, along_last(rest, count - 1, count % 2)};
    rest = count % 2 == 0 ? multiplied : concatenate(both, rank_of(rest) - 1);
  }
  rest = reshape(rest, result);
  return call.attributes.flag("keepdims") ? keep_axes(rest, shape, axes) : rest;
}

/// (a + ib)(c + id) by four real products.
Value matrix_product(const Call& call) {
  const auto product = [&](const Value& a, const Value& b) {
    return apply_one(call.op, {a, b}, call.attributes);
  };
  if (call.x(0).dtype() != call.x(1).dtype())
    throw Error{"matmul",
                ErrorCode::dtype_mismatch,
                "dtype mismatch: lhs " + call.x(0).spec().to_string() + ", rhs " +
                    call.x(1).spec().to_string(),
                {{"lhs", call.x(0).spec().to_string()}, {"rhs", call.x(1).spec().to_string()}}};
  const Value a = real(call.x(0));
  const Value b = imag(call.x(0));
  const Value c = real(call.x(1));
  const Value d = imag(call.x(1));
  return complex(product(a, c) - product(b, d), product(a, d) + product(b, c));
}

}  // namespace

void add_structure(Rules& rules) {
  const auto nothing = [](Params&, const Call&) {};
  rules["reshape"] = pairs([](Params& p, const Call& call) { append(p, "shape", call, 2); });
  rules["broadcast"] = pairs([](Params& p, const Call& call) {
    append(p, "axes", call, static_cast<std::int64_t>(call.attributes.integers("shape").size()));
    append(p, "shape", call, 2);
  });
  rules["transpose"] =
      pairs([](Params& p, const Call& call) { append(p, "axes", call, rank_of(call.x())); });
  rules["slice"] = pairs([](Params& p, const Call& call) {
    append(p, "starts", call, 0);
    append(p, "lengths", call, 2);
    append(p, "strides", call, 1);
  });
  rules["reverse"] = pairs(nothing);
  rules["concatenate"] = pairs(&count_from_front);
  rules["take"] = pairs(&count_from_front);
  rules["gather"] = pairs(nothing);
  rules["indexed_add"] = pairs(nothing);
  rules["indexed_put"] = pairs(nothing);
  rules["sum"] = &reduced;
  rules["mean"] = &reduced;
  rules["cumulative_sum"] = pairs(&count_from_front);
  for (const char* linear : {"pad", "take_along_axis", "dynamic_slice", "put_slice", "window_sum"})
    rules[linear] = &on_parts;
  rules["product"] = &product;
  rules["matmul"] = &matrix_product;
}

}  // namespace stoker::expr::complex_rules
