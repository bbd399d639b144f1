// Buffers from numbers.
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/script/functions/function_table.hpp"

namespace stoker::script {

void define_creation(FunctionTable& table) {
  using Call = FunctionCall;
  table.add("zeros", {0, 0}, {shape_option(), dtype_option(DType::f32)}, "0 in every element",
            [](const Call& c) { return zeros(c.shape(), c.dtype()); });
  table.add("ones", {0, 0}, {shape_option(), dtype_option(DType::f32)}, "1 in every element",
            [](const Call& c) { return ones(c.shape(), c.dtype()); });
  table.add("full", {0, 0},
            {real_option("value", {}, "the number"), shape_option(), dtype_option(DType::f32)},
            "one number in every element",
            [](const Call& c) { return full(c.shape(), c.real("value"), c.dtype()); });
  table.add("zeros_like", {1, 1}, {}, "0 in every element, with the shape and the dtype of x",
            [](const Call& c) { return zeros_like(c.x()); });
  table.add("ones_like", {1, 1}, {}, "1 in every element, with the shape and the dtype of x",
            [](const Call& c) { return ones_like(c.x()); });
  table.add("full_like", {2, 2}, {},
            "the second input, a single number, in every element, with the shape and the dtype of "
            "the first",
            [](const Call& c) { return full_like(c.x(0), c.x(1)); });
  table.add("eye", {0, 0},
            {integers_option("shape", "extents of the output, two or more", 0, true),
             dtype_option(DType::f32)},
            "1 on the diagonal of the last two axes, else 0",
            [](const Call& c) { return eye(c.shape(), c.dtype()); });
  table.add("tri", {0, 0},
            {integer_option("rows", {}, "number of rows", 0),
             integer_option("columns", {}, "number of columns", 0),
             integer_option("k", 0, "the diagonal; 0: the main one, 1: the one above it"),
             dtype_option(DType::u8)},
            "1 on diagonal k and below it, else 0", [](const Call& c) {
              return tri(c.integer("rows"), c.integer("columns"), c.integer("k"), c.dtype());
            });
  table.add(
      "linspace", {2, 2},
      {integer_option("n", {}, "how many numbers", 0),
       flag_option("endpoint", true, "the last number is the second input, else one step less"),
       dtype_option(DType::f32)},
      "n evenly spaced numbers from the first input to the second, along a new last axis",
      [](const Call& c) {
        return linspace(c.x(0), c.x(1), c.integer("n"), c.flag("endpoint"), c.dtype());
      });
}

}  // namespace stoker::script
