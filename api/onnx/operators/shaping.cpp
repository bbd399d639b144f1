// Other shapes of the same elements, and orders of axes.
#include <algorithm>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::shaping {
namespace {

/// The operand in another shape, known if it was.
Value in_shape(const Call& call, const Shape& shape) {
  const Value& x = call.input(0);
  if (x.shape().elements() != shape.elements())
    call.refuse(ErrorCode::shape_mismatch,
                x.to_string() + " does not have the elements of " + shape.to_string());
  if (x.is_known()) return x.known().reshaped(shape);
  if (x.is_texts()) return Value{Texts{shape, x.texts().strings}};
  return {reshape(x.tensor(), shape), x.type()};
}

Values reshape_rule(Call& call) {
  const auto wanted = call.integers(1, "shape");
  if (!wanted) call.refuse(ErrorCode::invalid_argument, "it has no shape");
  const bool copies_zero = !call.node().flag("allowzero", false);
  Axes extents = *wanted;
  std::int64_t known = 1;
  std::optional<std::size_t> inferred;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0 && copies_zero) {
      if (i >= call.shape().rank())
        call.refuse(ErrorCode::shape_mismatch, "extent 0 copies an axis that is not there");
      extents[i] = call.shape()[i];
    }
    if (extents[i] != -1) {
      known *= extents[i];
      continue;
    }
    if (inferred) call.refuse(ErrorCode::invalid_parameter, "two extents are -1");
    inferred = i;
  }
  if (inferred) {
    const std::int64_t all = call.shape().elements();
    if (known == 0 || all % known != 0)
      call.refuse(ErrorCode::shape_mismatch,
                  call.input(0).to_string() + " does not fill the extents");
    extents[*inferred] = all / known;
  }
  return {in_shape(call, shape_of(extents))};
}

Values flatten_rule(Call& call) {
  const std::int64_t rank = call.rank();
  std::int64_t axis = call.node().integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) call.refuse(ErrorCode::invalid_parameter, "axis out of range");
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i < axis; ++i) rows *= call.shape()[static_cast<std::size_t>(i)];
  std::int64_t columns = 1;
  for (std::int64_t i = axis; i < rank; ++i) columns *= call.shape()[static_cast<std::size_t>(i)];
  return {in_shape(call, Shape{rows, columns})};
}

Values squeeze_rule(Call& call) {
  const auto given = call.integers(1, "axes");
  Axes axes;
  if (given) axes = axes_in(*given, call.rank());
  Axes extents;
  for (std::int64_t i = 0; i < call.rank(); ++i) {
    const std::int64_t extent = call.shape()[static_cast<std::size_t>(i)];
    const bool goes = given ? std::ranges::find(axes, i) != axes.end() : extent == 1;
    if (goes && extent != 1)
      call.refuse(ErrorCode::shape_mismatch,
                  "axis " + std::to_string(i) + " of " + call.input(0).to_string() + " is not 1");
    if (!goes) extents.push_back(extent);
  }
  return {in_shape(call, shape_of(extents))};
}

Values unsqueeze_rule(Call& call) {
  const auto given = call.integers(1, "axes");
  if (!given) call.refuse(ErrorCode::invalid_argument, "it has no axes");
  const std::int64_t rank = call.rank() + static_cast<std::int64_t>(given->size());
  const Axes axes = axes_in(*given, rank);
  Axes extents;
  std::size_t next = 0;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool is_new = std::ranges::find(axes, i) != axes.end();
    if (!is_new && next == call.shape().rank())
      call.refuse(ErrorCode::invalid_parameter, "an axis is given twice");
    extents.push_back(is_new ? 1 : call.shape()[next++]);
  }
  return {in_shape(call, shape_of(extents))};
}

Axes permutation(const Call& call) {
  Axes reversed;
  for (std::int64_t i = call.rank(); i-- > 0;) reversed.push_back(i);
  Axes perm = axes_in(call.node().integers("perm", reversed), call.rank());
  Axes sorted = perm;
  std::ranges::sort(sorted);
  std::ranges::reverse(sorted);
  if (sorted != reversed)
    call.refuse(ErrorCode::invalid_parameter, "perm must name each axis once");
  return perm;
}

std::optional<Values> transpose_on_host(Call& call) {
  const Known x = call.input(0).known();
  const Axes perm = permutation(call);
  Axes extents;
  for (const std::int64_t axis : perm)
    extents.push_back(x.shape()[static_cast<std::size_t>(axis_in(axis, call.rank()))]);
  const Shape shape = shape_of(extents);
  const auto strides = x.shape().strides();
  std::vector<std::int64_t> positions(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < positions.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
      positions[i] += rest % shape[axis] * strides[static_cast<std::size_t>(perm[axis])];
      rest /= shape[axis];
    }
  }
  return Values{x.taken(positions, shape)};
}

Shape expanded_shape(Call& call) {
  const auto both = broadcast(call.shape(), shape_of(call.integers(1)));
  if (!both)
    call.refuse(ErrorCode::shape_mismatch, call.input(0).to_string() + " does not broadcast");
  return *both;
}

std::optional<Values> expand_on_host(Call& call) {
  const Shape shape = expanded_shape(call);
  if (shape.elements() > 1024) return {};
  return Values{call.input(0).known().taken(broadcast_positions(call.shape(), shape), shape)};
}

Values tile_rule(Call& call) {
  const Axes repeats = call.integers(1);
  if (static_cast<std::int64_t>(repeats.size()) != call.rank())
    call.refuse(ErrorCode::shape_mismatch, "repeats must have an entry for each axis");
  return {call.like(tile(call.x(), repeats))};
}

/// [n, c, h, w] with blocks of b by b.
Values depth_to_space(Call& call) {
  if (call.rank() != 4) call.refuse(ErrorCode::shape_mismatch, "expected 4 axes");
  const std::int64_t b = call.node().integer("blocksize");
  const Shape& s = call.shape();
  if (b <= 0 || b > s[1] || s[1] % b != 0 || s[1] / b % b != 0)
    call.refuse(ErrorCode::shape_mismatch, "channels are no multiple of blocksize²");
  const std::int64_t c = s[1] / (b * b);
  const bool columns_first = call.node().text("mode", "DCR") == "CRD";
  const Tensor apart = columns_first ? reshape(call.x(), {s[0], c, b, b, s[2], s[3]})
                                     : reshape(call.x(), {s[0], b, b, c, s[2], s[3]});
  const Axes order = columns_first ? Axes{0, 1, 4, 2, 5, 3} : Axes{0, 3, 4, 1, 5, 2};
  return {call.like(reshape(transpose(apart, order), {s[0], c, s[2] * b, s[3] * b}))};
}

Values space_to_depth(Call& call) {
  if (call.rank() != 4) call.refuse(ErrorCode::shape_mismatch, "expected 4 axes");
  const std::int64_t b = call.node().integer("blocksize");
  const Shape& s = call.shape();
  if (b <= 0 || b > std::max(s[2], s[3]) || s[2] % b != 0 || s[3] % b != 0)
    call.refuse(ErrorCode::shape_mismatch, "extents are no multiple of blocksize");
  const Tensor apart = reshape(call.x(), {s[0], s[1], s[2] / b, b, s[3] / b, b});
  return {call.like(
      reshape(transpose(apart, Axes{0, 3, 5, 1, 2, 4}), {s[0], s[1] * b * b, s[2] / b, s[3] / b}))};
}

Values trilu(Call& call) {
  const std::int64_t k = call.has(1) ? call.integer(1) : 0;
  if (call.rank() < 2) call.refuse(ErrorCode::shape_mismatch, "expected a matrix");
  return {call.like(call.node().flag("upper", true) ? triu(call.x(), k) : tril(call.x(), k))};
}

}  // namespace

void define(OperatorTable& table) {
  // These rules serve known operands as they are; that they are host rules says that what they decide about comes
  // from their operands.
  const auto both = [](Values (*rule)(Call&)) {
    return [rule](Call& call) { return std::optional{rule(call)}; };
  };
  table.add({.name = "Reshape",
             .since = {1, 5, 13, 14, 19, 21, 23, 24, 25},
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"shape", "allowzero", "consumed_inputs"},
             .decides = {1},
             .host = both(&reshape_rule),
             .lower = &reshape_rule});
  table.add({.name = "Flatten",
             .since = {1, 9, 11, 13, 21, 23, 24, 25},
             .types = alike(any_type),
             .attributes = {"axis"},
             .host = both(&flatten_rule),
             .lower = &flatten_rule});
  table.add({.name = "Squeeze",
             .since = {1, 11, 13, 21, 23, 24, 25},
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"axes"},
             .decides = {1},
             .host = both(&squeeze_rule),
             .lower = &squeeze_rule});
  table.add({.name = "Unsqueeze",
             .since = {1, 11, 13, 21, 23, 24, 25},
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"axes"},
             .decides = {1},
             .host = both(&unsqueeze_rule),
             .lower = &unsqueeze_rule});
  table.add(
      {.name = "Transpose",
       .since = {1, 13, 21, 23, 24, 25},
       .types = alike(any_type),
       .attributes = {"perm"},
       .host = &transpose_on_host,
       .lower =
           [](Call& call) { return Values{call.like(transpose(call.x(), permutation(call)))}; },
       .moves = true});
  table.add({.name = "Expand",
             .since = {8, 13},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(any_type),
             .decides = {1},
             .host = &expand_on_host,
             .lower =
                 [](Call& call) {
                   const Shape shape = expanded_shape(call);
                   return Values{call.like(broadcast(call.x(), shape))};
                 },
             .moves = true});
  table.add({.name = "Tile",
             .since = {6, 13},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(any_type),
             .decides = {1},
             .lower = &tile_rule,
             .moves = true});
  table.add({.name = "DepthToSpace",
             .since = {1, 11, 13},
             .types = alike(any_type),
             .attributes = {"blocksize", "mode"},
             .lower = &depth_to_space,
             .moves = true});
  table.add({.name = "SpaceToDepth",
             .since = {1, 13},
             .types = alike(any_type),
             .attributes = {"blocksize"},
             .lower = &space_to_depth,
             .moves = true});
  table.add({.name = "Trilu",
             .since = {14},
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"upper"},
             .decides = {1},
             .lower = &trilu});
}

}  // namespace stoker::onnx::operators::shaping
