// Gradients against central differences in f64, of every operation that has one.
#include "stoker/tests/tensor/differences.hpp"

namespace stoker {
namespace {

using Gradients = Tensors;

TEST_F(Gradients, of_functions_of_one_element) {
  struct Case {
    const char* name;
    Tensor (*function)(const TensorLike&);
    double low, high;
  };
  for (const Case& one : std::vector<Case>{{"exp", &exp, -2, 2},
                                           {"expm1", &expm1, -1, 1},
                                           {"log", &log, 0.5, 3},
                                           {"log1p", &log1p, -0.5, 2},
                                           {"sigmoid", &sigmoid, -3, 3},
                                           {"sqrt", &sqrt, 0.5, 4},
                                           {"rsqrt", &rsqrt, 0.5, 4},
                                           {"cbrt", &cbrt, 0.5, 4},
                                           {"sin", &sin, -3, 3},
                                           {"cos", &cos, -3, 3},
                                           {"tan", &tan, -1, 1},
                                           {"asin", &asin, -0.9, 0.9},
                                           {"acos", &acos, -0.9, 0.9},
                                           {"atan", &atan, -3, 3},
                                           {"sinh", &sinh, -2, 2},
                                           {"cosh", &cosh, -2, 2},
                                           {"tanh", &tanh, -2, 2},
                                           {"asinh", &asinh, -2, 2},
                                           {"acosh", &acosh, 1.2, 4},
                                           {"atanh", &atanh, -0.8, 0.8},
                                           {"erf", &erf, -2, 2},
                                           {"erfc", &erfc, -2, 2},
                                           {"erf_inv", &erf_inv, -0.8, 0.8},
                                           {"negate", &negate, -2, 2},
                                           {"abs", &abs, 0.2, 2},
                                           {"relu", &relu, 0.2, 2}}) {
    SCOPED_TRACE(one.name);
    expect_gradient([&](const auto& x) { return one.function(x[0]); },
                    {sample({5}, one.low, one.high)});
  }
}

TEST_F(Gradients, of_functions_of_two_elements_with_broadcasting) {
  struct Case {
    const char* name;
    Tensor (*function)(const TensorLike&, const TensorLike&);
  };
  for (const Case& one : std::vector<Case>{{"add", &add},
                                           {"subtract", &subtract},
                                           {"multiply", &multiply},
                                           {"divide", &divide},
                                           {"pow", &pow},
                                           {"atan2", &atan2},
                                           {"max", &max},
                                           {"min", &min},
                                           {"remainder", &remainder}}) {
    SCOPED_TRACE(one.name);
    expect_gradient([&](const auto& x) { return one.function(x[0], x[1]); },
                    {sample({2, 3}, 0.5, 3), sample({3}, 0.7, 2, 1)});
    expect_gradient([&](const auto& x) { return one.function(x[0], x[1]); },
                    {sample({3}, 0.5, 3), sample({2, 1}, 0.7, 2, 1)});
  }
  expect_gradient([](const auto& x) { return x[0] % x[1]; },
                  {-1 * sample({4}, 2.1, 2.9), sample({4}, 0.9, 1.1, 1)});
}

TEST_F(Gradients, of_angles_of_the_largest_numbers) {
  const auto angle = [](const Tensor& x) { return sum(atan2(x, full({1}, 60000.0, DType::f16))); };
  const Tensor slope = grad(angle)(full({1}, 60000.0, DType::f16));
  EXPECT_NEAR(as_type(slope, DType::f64).to_vector<double>()[0], 0.5 / 60000, 0x1p-24);
}

TEST_F(Gradients, of_choices) {
  expect_gradient(
      [](const auto& x) {
        return select(tensor({1, 0, 1}), x[0], x[1]);
      },
      {sample({3}, -1, 1), sample({3}, -1, 1, 2)});
  expect_gradient([](const auto& x) { return clip(x[0], -0.5, 0.5); }, {sample({6}, -1, 1)});
  const auto at_limit = grad([](const Tensor& x) { return sum(clip(x, 0, 1)); });
  expect_near(at_limit(tensor({0.0, 1.0, 2.0, -1.0})), {1, 1, 0, 0});
}

TEST_F(Gradients, of_shapes) {
  const std::vector<Tensor> x{sample({2, 3}, -1, 1)};
  const std::vector<std::pair<const char*, Function>> cases = {
      {"reshape",
       [](const auto& v) {
         return reshape(v[0], {3, 2});
       }},
      {"transpose", [](const auto& v) { return transpose(v[0]); }},
      {"reverse", [](const auto& v) { return reverse(v[0], Axes{1}); }},
      {"broadcast",
       [](const auto& v) {
         return broadcast(v[0], {4, 2, 3});
       }},
      {"broadcast axes",
       [](const auto& v) {
         return broadcast(v[0], {2, 5, 3}, {0, 2});
       }},
      {"broadcast ones",
       [](const auto& v) {
         return broadcast(reshape(v[0], {6, 1}), {6, 4});
       }},
      {"tile",
       [](const auto& v) {
         return tile(v[0], {2, 2});
       }},
      {"slice",
       [](const auto& v) {
         return slice(v[0], {0, 1}, {2, 2});
       }},
      {"strided slice",
       [](const auto& v) {
         return slice(v[0], {0, 0}, {2, 3}, Axes{1, 2});
       }},
      {"pad",
       [](const auto& v) {
         return pad(v[0], 0.5, {{1, 2, 0}, {0, 1, 2}});
       }},
      {"crop",
       [](const auto& v) {
         return pad(v[0], 0.5, {{-1, 0, 0}, {1, -1, 1}});
       }},
      {"concatenate",
       [](const auto& v) {
         return concatenate({v[0], v[0] * 2}, 1);
       }},
      {"stack",
       [](const auto& v) {
         return stack({v[0], v[0] * 3}, 1);
       }},
      {"tril", [](const auto& v) { return tril(v[0]); }},
      {"cast", [](const auto& v) { return as_type(v[0], DType::f64) * 2; }}};
  for (const auto& [name, function] : cases) {
    SCOPED_TRACE(name);
    expect_gradient(function, x);
  }
  expect_gradient(
      [](const auto& v) {
        return pad(v[0], v[1], {{1, 1, 1}});
      },
      {sample({3}, -1, 1), sample({}, 0, 1)});
}

TEST_F(Gradients, of_reductions) {
  const std::vector<Tensor> x{sample({3, 4}, 0.3, 2)};
  const std::vector<std::pair<const char*, Function>> cases = {
      {"sum", [](const auto& v) { return sum(v[0], {Axes{0}}); }},
      {"sum all", [](const auto& v) { return sum(v[0]); }},
      {"mean",
       [](const auto& v) {
         return mean(v[0], {Axes{1}, true});
       }},
      {"product", [](const auto& v) { return product(v[0], {Axes{1}}); }},
      {"max", [](const auto& v) { return reduce_max(v[0], {Axes{1}}); }},
      {"min", [](const auto& v) { return reduce_min(v[0], {Axes{0}}); }},
      {"variance", [](const auto& v) { return variance(v[0], {Axes{1}}, 1); }},
      {"deviation", [](const auto& v) { return standard_deviation(v[0], {Axes{0}}); }},
      {"logsumexp", [](const auto& v) { return logsumexp(v[0], {Axes{1}}); }},
      {"softmax", [](const auto& v) { return softmax(v[0], 0); }},
      {"log_softmax", [](const auto& v) { return log_softmax(v[0]); }}};
  for (const auto& [name, function] : cases) {
    SCOPED_TRACE(name);
    expect_gradient(function, x);
  }
  expect_gradient([](const auto& v) { return layer_norm(v[0], v[1], v[2]); },
                  {sample({3, 4}, -1, 1), sample({4}, 0.5, 1.5, 1), sample({4}, -1, 1, 2)});
}

TEST_F(Gradients, of_extremes_are_shared_by_equals) {
  const auto of_max = grad([](const Tensor& x) { return reduce_max(x); });
  expect_near(of_max(tensor({1.0, 3.0, 3.0, 2.0})), {0, 0.5, 0.5, 0});
  const auto of_both = grad([](const Tensor& x) { return sum(max(x, 1.0)); });
  expect_near(of_both(tensor({0.0, 1.0, 2.0})), {0, 0.5, 1});
}

TEST_F(Gradients, of_products_with_zeros) {
  const auto gradient = grad([](const Tensor& x) { return product(x); });
  expect_near(gradient(tensor({2.0, 0.0, 3.0})), {0, 6, 0});
  expect_near(gradient(tensor({2.0, 0.0, 0.0})), {0, 0, 0});
}

TEST_F(Gradients, of_powers_at_zero_are_no_nan) {
  const auto gradient = grad([](const Tensor& x) { return sum(pow(x, tensor({0.0, 1.0, 2.0}))); });
  expect_near(gradient(tensor({0.0, 0.0, 0.0})), {0, 1, 0});
  const auto by_exponent = grad([](const Tensor& y) { return sum(pow(tensor({0.0, 2.0}), y)); });
  expect_near(by_exponent(tensor({1.0, 3.0})), {0, 8 * std::log(2.0)});
}

TEST_F(Gradients, of_products_whose_beginnings_leave_the_range) {
  std::vector<double> numbers(119, 0.125);
  std::fill_n(numbers.begin() + 60, 59, 8.0);
  const Tensor x = as_type(tensor(numbers), DType::f32);
  std::vector<double> wanted;
  for (const double number : numbers) wanted.push_back(0.125 / number);
  EXPECT_EQ(grad([](const Tensor& v) { return product(v); })(x).to_vector<double>(), wanted);
}

TEST_F(Gradients, of_matrix_products) {
  const Function product = [](const auto& x) { return matmul(x[0], x[1]); };
  expect_gradient(product, {sample({2, 3}, -1, 1), sample({3, 4}, -1, 1, 1)});
  expect_gradient(product, {sample({3}, -1, 1), sample({3, 4}, -1, 1, 1)});
  expect_gradient(product, {sample({2, 3}, -1, 1), sample({3}, -1, 1, 1)});
  expect_gradient(product, {sample({2, 2, 3}, -1, 1), sample({3, 2}, -1, 1, 1)});
  expect_gradient([](const auto& x) { return matmul(transpose(x[0]), transpose(x[1])); },
                  {sample({3, 2}, -1, 1), sample({4, 3}, -1, 1, 1)});
  expect_gradient(
      [](const auto& x) {
        return dot(x[0], {.contract = {1}, .batch = {0}}, x[1], {.contract = {2}, .batch = {0}});
      },
      {sample({2, 3, 2}, -1, 1), sample({2, 2, 3}, -1, 1, 1)});
}

TEST_F(Gradients, of_higher_order) {
  const auto f = [](const Tensor& x) { return sum(pow(x, 3)); };
  const auto second = grad([&](const Tensor& x) { return sum(grad(f)(x)); });
  expect_near(second(tensor({1.0, 2.0})), {6, 12});
  const auto third = grad([&](const Tensor& x) { return sum(second(x)); });
  expect_near(third(tensor({1.0, 2.0})), {6, 6});
}

TEST_F(Gradients, keep_the_structure_of_what_they_are_taken_by) {
  using Model = std::map<std::string, Tensor>;
  const auto loss = [](const Model& model, const Tensor& x) {
    return sum(model.at("w") * x + model.at("b"));
  };
  const Model model{{"w", tensor({1.0, 2.0})}, {"b", tensor(0.0)}};
  const auto [value, gradient] = value_and_grad(loss)(model, tensor({3.0, 4.0}));
  EXPECT_EQ(value.item<float>(), 11);
  expect_near(gradient.at("w"), {3, 4});
  expect_near(gradient.at("b"), {2});
}

TEST_F(Gradients, stop_where_they_are_told_to) {
  const auto gradient = grad([](const Tensor& x) { return sum(x * stop_gradient(x)); });
  expect_near(gradient(tensor({2.0, 3.0})), {2, 3});
}

TEST_F(Gradients, of_what_does_not_depend_are_zero) {
  const auto [a, b] = grad([](const std::pair<Tensor, Tensor>& x) { return sum(x.first * 2); })(
      std::pair{tensor({1.0}), tensor({1.0, 2.0})});
  expect_near(a, {2});
  expect_near(b, {0, 0});
  const auto of_integers = grad([](const Tensor& x) { return sum(as_type(x, DType::f32)); });
  EXPECT_EQ(of_integers(tensor({1, 2})).dtype(), DType::f32);
}

TEST_F(Gradients, are_refused_where_there_are_none) {
  EXPECT_EQ(error_of([] { return grad([](const Tensor& x) { return x * 2; })(ones({3})); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(Gradients, come_forwards_and_backwards) {
  const auto f = [](const Tensor& x) { return sin(x) * x; };
  const Tensor x = tensor<double>({0.5, 1.5});
  const auto [y, pull] = vjp(f, x);
  expect_near(pull(tensor<double>({1.0, 0.0})), {std::sin(0.5) + 0.5 * std::cos(0.5), 0}, 1e-12);
  const auto [z, moved] = jvp(f, x, tensor<double>({0.0, 2.0}));
  expect_near(moved, {0, 2 * (std::sin(1.5) + 1.5 * std::cos(1.5))}, 1e-12);
  EXPECT_EQ(error_of([&] { return pull(tensor({1.0})); }).code(), ErrorCode::shape_mismatch);
}

TEST_F(Gradients, of_one_result_among_several) {
  const auto f = [](const Tensor& x) { return std::pair{sum(x * x), x + 1}; };
  const auto [both, gradient] =
      value_and_grad(f, [](const auto& result) { return result.first; })(tensor({1.0, 2.0}));
  EXPECT_EQ(both.first.item<float>(), 5);
  expect_near(both.second, {2, 3});
  expect_near(gradient, {2, 4});
}

}  // namespace
}  // namespace stoker
