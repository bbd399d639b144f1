// Functions that join, cut and reorder.
#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/api/tensor/math/diagonals.hpp"
#include "stoker/api/tensor/views/batches.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/tensor/views/padding.hpp"
#include "stoker/api/tensor/views/split.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::script {
namespace {

using Call = FunctionCall;

/// The counts `low` and `high`, one of each for each axis; an empty list is zeros.
Borders borders_of(const Call& call) {
  const Axes &low = call.integers("low"), &high = call.integers("high");
  const std::size_t rank = call.x().rank();
  for (const Axes* counts : {&low, &high})
    if (!counts->empty() && counts->size() != rank)
      throw Error{"reflect",
                  ErrorCode::invalid_parameter,
                  "low and high: expected one number for each of " + std::to_string(rank) +
                      " axes, got " + std::to_string(counts->size()),
                  {{"expected", std::to_string(rank)}, {"got", std::to_string(counts->size())}}};
  Borders borders(rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    borders[axis] = {low.empty() ? 0 : low[axis], high.empty() ? 0 : high[axis]};
  return borders;
}

ParamSpec diagonal_option() {
  return integer_option("offset", 0, "the diagonal; 0: the main one, 1: the one above it");
}

void define_joins(FunctionTable& table) {
  table.add("stack", {1, expr::any_number}, {axis_option(0, "the new axis")},
            "the inputs, which have one shape, joined along a new axis",
            [](const Call& c) { return stack(c.inputs(), c.integer("axis")); });
  table.add("split", {1, 1},
            {integer_option("size", {}, "number of elements of the first part", 1),
             axis_option(0, "the axis that is cut")},
            "two parts: the first size elements along an axis, and the rest",
            [](const Call& c) { return split(c.x(), c.integer("size"), c.integer("axis")); });
  table.add("split_at", {1, 1},
            {real_option("fraction", {}, "share of the first part, between 0 and 1"),
             axis_option(0, "the axis that is cut")},
            "two parts: the first share of the elements along an axis, rounded up, and the rest",
            [](const Call& c) { return split_at(c.x(), c.real("fraction"), c.integer("axis")); });
  table.add("to_batched", {1, 1},
            {integer_option("size", {}, "number of rows of a part", 1),
             choice_option("leftover", "repeat", {"repeat", "discard"},
                           "the last part, if it is short, is filled up from the beginning, or "
                           "left out")},
            "all parts of size rows along the first axis, as one output each", [](const Call& c) {
              return to_batched(
                  c.x(), c.integer("size"),
                  c.text("leftover") == "repeat" ? Leftover::repeat : Leftover::discard);
            });
  table.add("slice_along_axis", {1, 1},
            {integer_option("start", 0, "position of the first element"),
             integer_option("length", {}, "number of elements that the part spans", 1),
             axis_option(0, "the axis that is cut"),
             integer_option("stride", 1, "distance between the elements that are taken", 1)},
            "a part of x along one axis; start is shifted so that the length fits",
            [](const Call& c) {
              return slice_along_axis(c.x(), c.integer("start"), c.integer("length"),
                                      c.integer("axis"), c.integer("stride"));
            });
}

void define_extents(FunctionTable& table) {
  table.add("flatten", {1, 1},
            {integers_option("axes", "neighbouring axes that become one; empty: all")},
            "the same elements with several axes merged into one", [](const Call& c) {
              const auto axes = c.some("axes");
              return axes ? flatten(c.x(), *axes) : flatten(c.x());
            });
  table.add("squeeze", {1, 1},
            {integers_option("axes", "axes to remove, of extent 1; empty: all that have it")},
            "x without axes of extent 1",
            [](const Call& c) { return squeeze(c.x(), c.some("axes")); });
  table.add("new_axis", {1, 1}, {axis_option(0, "the new axis")}, "x with a new axis of extent 1",
            [](const Call& c) { return new_axis(c.x(), c.integer("axis")); });
  table.add(
      "tile", {1, 1},
      {integers_option("repetitions", "for each axis; a longer list adds leading axes", 0, true)},
      "x repeated along its axes",
      [](const Call& c) { return tile(c.x(), c.integers("repetitions")); });
  table.add("reflect", {1, 1},
            {integers_option("low",
                             "elements added before each axis; a negative number crops; "
                             "empty: none"),
             integers_option("high",
                             "elements added after each axis; a negative number crops; "
                             "empty: none")},
            "x continued beyond its borders by reflection; the border elements are not repeated",
            [](const Call& c) { return reflect(c.x(), borders_of(c)); });
}

void define_diagonals(FunctionTable& table) {
  const auto k = [] {
    return std::vector{
        integer_option("k", 0, "the diagonal; 0: the main one, 1: the one above it")};
  };
  table.add("tril", {1, 1}, k(), "x with 0 above diagonal k of the last two axes",
            [](const Call& c) { return tril(c.x(), c.integer("k")); });
  table.add("triu", {1, 1}, k(), "x with 0 below diagonal k of the last two axes",
            [](const Call& c) { return triu(c.x(), c.integer("k")); });
  table.add("make_diagonal", {1, 1}, {diagonal_option()},
            "a square matrix with the vector x on a diagonal and 0 elsewhere",
            [](const Call& c) { return make_diagonal(c.x(), c.integer("offset")); });
  table.add("take_diagonal", {1, 1}, {diagonal_option()}, "the elements on a diagonal of x",
            [](const Call& c) { return take_diagonal(c.x(), c.integer("offset")); });
  table.add("put_diagonal", {2, 2}, {diagonal_option()},
            "the first input with a diagonal replaced by the second, a vector of its length",
            [](const Call& c) { return put_diagonal(c.x(0), c.x(1), c.integer("offset")); });
}

}  // namespace

void define_shapes(FunctionTable& table) {
  define_joins(table);
  define_extents(table);
  define_diagonals(table);
}

}  // namespace stoker::script
