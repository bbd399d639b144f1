// Names follow their axes.
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using Names = Tensors;

std::vector<std::string> names_of(const Tensor& x) {
  std::vector<std::string> names;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) names.push_back(x.names()[axis]);
  return names;
}
using List = std::vector<std::string>;

TEST_F(Names, say_which_axis_is_meant) {
  const Tensor x = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}).named({"rows", "columns"});
  EXPECT_EQ(x.axis("columns"), 1);
  expect_near(sum(x, {x.axes({"rows"})}), {5, 7, 9});
  expect_near(sum(x, {x.axes({"columns", "rows"})}), {21});
  const Error error = error_of([&] { return x.axis("depth"); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(std::string{error.reason()}.find("rows, columns"), std::string::npos);
  EXPECT_TRUE(ones({2}).names().none());
}

TEST_F(Names, follow_their_axes_through_operations) {
  const Tensor x = ones({2, 3, 4}).named({"a", "b", "c"});
  struct Case {
    const char* name;
    Tensor result;
    List names;
  };
  const Axes b = x.axes({"b"});
  for (const Case& one : std::vector<Case>{
           {"unary", exp(x), {"a", "b", "c"}},
           {"with a number", 2 - x, {"a", "b", "c"}},
           {"with an unnamed operand", x * ones({4}), {"a", "b", "c"}},
           {"with a smaller named operand", x + ones({4}).named({"c"}), {"a", "b", "c"}},
           {"comparison", x > 0, {"a", "b", "c"}},
           {"select", select(x > 0, x, 0), {"a", "b", "c"}},
           {"clip", clip(x, 0, 1), {"a", "b", "c"}},
           {"another dtype", as_type(x, DType::s32), {"a", "b", "c"}},
           {"sum", sum(x, {b}), {"a", "c"}},
           {"sum that keeps", sum(x, {b, true}), {"a", "b", "c"}},
           {"mean of all", mean(x), {}},
           {"variance", variance(x, {b}), {"a", "c"}},
           {"logsumexp", logsumexp(x, {b}), {"a", "c"}},
           {"argmax", argmax(x, {.axis = 1}), {"a", "c"}},
           {"softmax", softmax(x), {"a", "b", "c"}},
           {"cumulative_sum", cumulative_sum(x), {"a", "b", "c"}},
           {"sort", sort(x), {"a", "b", "c"}},
           {"transpose", transpose(x, Axes{2, 0, 1}), {"c", "a", "b"}},
           {"new_axis", new_axis(x, 1), {"a", "", "b", "c"}},
           {"squeeze", squeeze(sum(x, {b, true})), {"a", "c"}},
           {"broadcast", broadcast(x, {5, 2, 3, 4}), {"", "a", "b", "c"}},
           {"slice", slice_along_axis(x, 0, 2, 1), {"a", "b", "c"}},
           {"reverse", reverse(x), {"a", "b", "c"}},
           {"concatenate", concatenate({x, ones({1, 3, 4})}), {"a", "b", "c"}},
           {"stack", stack({x, x}), {"", "a", "b", "c"}},
           {"matmul", matmul(x, ones({4, 5}).named({"c", "d"})), {"a", "b", "d"}},
           {"dot",
            dot(x, {.contract = {1}}, ones({3, 6}).named({"b", "e"}), {.contract = {0}}),
            {"a", "c", "e"}},
           {"reshape makes other axes", reshape(x, {6, 4}), {"", ""}},
           {"reshape to the same", reshape(x, {2, 3, 4}), {"a", "b", "c"}},
       })
    EXPECT_EQ(names_of(one.result), one.names) << one.name;
}

TEST_F(Names, that_differ_do_not_meet) {
  const Tensor x = ones({2, 2}).named({"rows", "columns"});
  const Error error = error_of([&] { return x + transpose(x); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.op(), "add");
  EXPECT_NE(std::string{error.reason()}.find("'rows'"), std::string::npos);
  EXPECT_EQ(error_of([&] { return concatenate({x, transpose(x)}); }).op(), "concatenate");
  EXPECT_EQ(error_of([&] { return x.named({"one"}); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] {
              return x.named({"same", "same"});
            }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(Names, pass_through_traced_functions_gradients_and_loops) {
  const Tensor x = ones({2, 3}).named({"rows", "columns"});
  const auto f = [](const Tensor& v) { return transpose(v) * 2; };
  const auto traced = jit(f);
  EXPECT_EQ(names_of(traced(x)), (List{"columns", "rows"}));
  EXPECT_EQ(names_of(traced(ones({2, 3}))), (List{"", ""})) << "other names, another program";
  const auto loss = [](const Tensor& v) { return sum(v * v, {v.axes({"rows", "columns"})}); };
  EXPECT_EQ(names_of(grad(loss)(x)), (List{"rows", "columns"}));
  EXPECT_EQ(names_of(jit(grad(loss))(x)), (List{"rows", "columns"}));
  EXPECT_EQ(names_of(for_loop(2, x, [](const Tensor&, const Tensor& v) { return v * 2; })),
            (List{"rows", "columns"}));
  const Tensor mapped =
      map([](const Tensor& row) { return row / sum(row, {row.axes({"columns"})}); }, x);
  EXPECT_EQ(names_of(mapped), (List{"", "columns"}));
}

TEST_F(Names, are_printed) {
  EXPECT_EQ(to_string(tensor({1, 2}).named({"x"})), "s32[x 2] [1, 2]");
  EXPECT_EQ(to_string(tensor({1, 2})), "s32[2] [1, 2]");
}

}  // namespace
}  // namespace stoker
