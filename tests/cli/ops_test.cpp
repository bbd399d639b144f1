// `stoker ops` lists the operations that other tensor libraries have, too, under the names that they have here.
#include <gtest/gtest.h>

#include <map>

#include "process.hpp"

namespace stoker {
namespace {

TEST(OpsCommand, lists_what_a_tensor_library_has) {
  const auto listed = parsed(stoker_command({"ops", "--json"}));
  std::map<std::string, nlohmann::json> by_name;
  for (const auto& op : listed["ops"]) by_name[op["name"]] = op;
  const std::vector<std::string> asked = {"constant",
                                          "iota",
                                          "cast",
                                          "bitcast",
                                          "reshape",
                                          "broadcast",
                                          "transpose",
                                          "reverse",
                                          "pad",
                                          "matmul",
                                          "slice",
                                          "dynamic_slice",
                                          "put_slice",
                                          "gather",
                                          "take",
                                          "take_along_axis",
                                          "concatenate",
                                          "select",
                                          "sum",
                                          "product",
                                          "reduce_max",
                                          "reduce_min",
                                          "all",
                                          "any",
                                          "argmax",
                                          "argmin",
                                          "window_sum",
                                          "window_product",
                                          "window_max",
                                          "window_min",
                                          "window_scatter_max",
                                          "window_scatter_min",
                                          "sort",
                                          "argsort",
                                          "top_k",
                                          "indexed_add",
                                          "indexed_multiply",
                                          "indexed_max",
                                          "indexed_min",
                                          "indexed_put",
                                          "triangular_solve",
                                          "cumulative_sum",
                                          "cumulative_product",
                                          "cumulative_max",
                                          "cumulative_min",
                                          "add",
                                          "subtract",
                                          "multiply",
                                          "pow",
                                          "remainder",
                                          "divide",
                                          "atan2",
                                          "min",
                                          "max",
                                          "quotient",
                                          "bitwise_and",
                                          "bitwise_or",
                                          "bitwise_xor",
                                          "left_shift",
                                          "right_shift",
                                          "equal",
                                          "not_equal",
                                          "greater",
                                          "less",
                                          "greater_equal",
                                          "less_equal",
                                          "logical_and",
                                          "logical_or",
                                          "logical_xor",
                                          "exp",
                                          "expm1",
                                          "log",
                                          "log1p",
                                          "sigmoid",
                                          "cos",
                                          "sin",
                                          "tan",
                                          "cosh",
                                          "sinh",
                                          "tanh",
                                          "acos",
                                          "asin",
                                          "atan",
                                          "acosh",
                                          "asinh",
                                          "atanh",
                                          "sqrt",
                                          "rsqrt",
                                          "cbrt",
                                          "erf",
                                          "erfc",
                                          "erf_inv",
                                          "abs",
                                          "bitwise_not",
                                          "ceil",
                                          "floor",
                                          "negate",
                                          "round",
                                          "sign",
                                          "count_leading_zeros",
                                          "population_count",
                                          "is_nan",
                                          "is_infinity",
                                          "logical_not",
                                          "cholesky",
                                          "solve",
                                          "qr",
                                          "eigh",
                                          "svd",
                                          "lu",
                                          "determinant",
                                          "random_bits",
                                          "view_as_real",
                                          "view_as_complex",
                                          "fft",
                                          "ifft"};
  for (const std::string& name : asked) {
    ASSERT_TRUE(by_name.contains(name)) << name;
    EXPECT_FALSE(by_name[name]["dtypes"].empty()) << name;
    EXPECT_EQ(by_name[name]["devices"][0], "cpu") << name;
  }
  EXPECT_EQ(by_name["exp"]["gradient"], "exact");
  EXPECT_EQ(by_name["floor"]["gradient"], "zero");
  EXPECT_EQ(by_name["quotient"]["gradient"], "none");
  EXPECT_EQ(by_name["bitcast"]["gradient"], "none");
  for (const char* name : {"lu", "qr", "svd", "cumulative_product", "cumulative_max",
                           "computed_after", "window_scatter_max", "window_scatter_min"})
    EXPECT_EQ(by_name[name]["gradient"], "exact") << name;
  EXPECT_EQ(by_name["svd"]["devices"].size(), 1U);
}

TEST(OpsCommand, describes_one) {
  const CommandResult matmul = stoker_command({"ops", "matmul"});
  EXPECT_EQ(matmul.exit_code, 0) << matmul.err;
  EXPECT_TRUE(matmul.out.starts_with("matmul\n  c[..., i, j] = sum over t of")) << matmul.out;
  EXPECT_TRUE(contains(matmul.out, "Inputs: 2\n")) << matmul.out;
  EXPECT_TRUE(contains(matmul.out, "Gradient: exact\n")) << matmul.out;
  EXPECT_TRUE(contains(matmul.out, "Kernel: matmul (")) << matmul.out;
  EXPECT_EQ(parsed(stoker_command({"ops", "floor", "--json"}))["gradient"], "zero");
}

TEST(OpsCommand, describes_functions_of_scripts_with_their_options) {
  const CommandResult variance = stoker_command({"ops", "variance"});
  EXPECT_TRUE(variance.out.starts_with("variance, a function of scripts\n")) << variance.out;
  EXPECT_TRUE(contains(variance.out, "ddof            integer   default 0; 0 ≤ it\n"))
      << variance.out;
  EXPECT_EQ(parsed(stoker_command({"ops", "variance", "--json"}))["options"][2]["name"], "ddof");
  EXPECT_TRUE(contains(stoker_command({"ops"}).out, "variance"));
}

TEST(OpsCommand, knows_the_nearest_name_or_none) {
  const CommandResult near = stoker_command({"ops", "varience"});
  EXPECT_EQ(near.exit_code, 3);
  EXPECT_TRUE(contains(near.err, "'varience'; did you mean 'variance'?")) << near.err;
  EXPECT_EQ(stoker_command({"ops", "nothing_like_it"}).exit_code, 3);
  EXPECT_EQ(stoker_command({"ops", "matmul", "--markdown"}).exit_code, 2);
}

TEST(OpsCommand, shows_them_to_people) {
  const CommandResult result = stoker_command({"ops"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.out, "matmul"));
}

}  // namespace
}  // namespace stoker
