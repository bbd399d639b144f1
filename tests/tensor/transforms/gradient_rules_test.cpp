// Gradients at the edges of derivatives: steps, ties, limits, zeros, duplicates.
#include "stoker/tests/tensor/differences.hpp"

namespace stoker {
namespace {

using GradientRules = TensorsOnDevices;
using OfOne = std::function<Tensor(const Tensor&)>;

/// The gradient of the sum of what `f` gives.
Tensor slope(const OfOne& f, const Tensor& x) {
  return grad([&](const Tensor& v) { return sum(f(v)); })(x);
}

/// A gradient of ones, of whatever dtype, pulled back.
Tensor pulled(const OfOne& f, const Tensor& x) {
  const auto [y, pull] = vjp(f, x);
  return pull(ones(y.shape(), y.dtype()));
}

TEST_P(GradientRules, steps_have_none) {
  const Tensor x = tensor({-1.5, 0.0, 0.5, 2.0});
  for (const auto& [name, f] : std::vector<std::pair<const char*, OfOne>>{
           {"floor", [](const Tensor& v) { return floor(v); }},
           {"ceil", [](const Tensor& v) { return ceil(v); }},
           {"round", [](const Tensor& v) { return round(v); }},
           {"sign", [](const Tensor& v) { return sign(v); }},
           {"is_nan", [](const Tensor& v) { return is_nan(v); }},
           {"is_infinity", [](const Tensor& v) { return is_infinity(v); }},
           {"equal", [](const Tensor& v) { return v == 0.5; }},
           {"not_equal", [](const Tensor& v) { return v != 0.5; }},
           {"less", [](const Tensor& v) { return v < 0.5; }},
           {"less_equal", [](const Tensor& v) { return v <= 0.5; }},
           {"greater", [](const Tensor& v) { return v > 0.5; }},
           {"greater_equal", [](const Tensor& v) { return v >= 0.5; }},
           {"logical_and", [](const Tensor& v) { return logical_and(v, v + 1); }},
           {"logical_or", [](const Tensor& v) { return logical_or(v, v + 1); }},
           {"logical_xor", [](const Tensor& v) { return logical_xor(v, v + 1); }},
           {"logical_not", [](const Tensor& v) { return logical_not(v); }},
           {"all", [](const Tensor& v) { return all(v); }},
           {"any", [](const Tensor& v) { return any(v); }},
           {"argmax", [](const Tensor& v) { return argmax(v); }},
           {"argmin", [](const Tensor& v) { return argmin(v); }},
           {"argsort", [](const Tensor& v) { return argsort(v); }},
           {"to integers", [](const Tensor& v) { return as_type(v, DType::s32); }},
           {"iota", [](const Tensor& v) { return iota(v.shape(), DType::f32); }},
           {"eye", [](const Tensor&) { return eye(4); }},
           {"a constant", [](const Tensor&) { return full({4}, 2.0); }}}) {
    SCOPED_TRACE(name);
    expect_values<float>(pulled(f, x), {4}, {0, 0, 0, 0});
    // Beside something that has one, as a float.
    const auto both = [&](const Tensor& v) { return sum(as_type(f(v), DType::f32)) + sum(v * 3); };
    expect_values<float>(grad(both)(x), {4}, {3, 3, 3, 3});
  }
}

TEST_P(GradientRules, bits_have_none) {
  const Tensor x = tensor({1, 6, 40});
  for (const auto& [name, f] : std::vector<std::pair<const char*, OfOne>>{
           {"bitwise_and", [](const Tensor& v) { return v & 3; }},
           {"bitwise_or", [](const Tensor& v) { return v | 3; }},
           {"bitwise_xor", [](const Tensor& v) { return v ^ 3; }},
           {"bitwise_not", [](const Tensor& v) { return ~v; }},
           {"left_shift", [](const Tensor& v) { return v << 2; }},
           {"right_shift", [](const Tensor& v) { return v >> 2; }},
           {"population_count", [](const Tensor& v) { return population_count(v); }},
           {"count_leading_zeros", [](const Tensor& v) { return count_leading_zeros(v); }}}) {
    SCOPED_TRACE(name);
    const Tensor gradient = pulled(f, x);
    EXPECT_EQ(gradient.dtype(), DType::f32);
    expect_values<float>(gradient, {3}, {0, 0, 0});
  }
}

TEST_P(GradientRules, windows_with_holes_give_theirs_to_the_first_extreme) {
  const Window window{.dimensions = {2}, .dilations = Axes{2}};
  const auto largest = [&](const Tensor& v) { return sum(window_max(v, window)); };
  // Pairs (3, 3), (1, 5), (3, 2), (5, 4): of equal ones the first.
  expect_values<float>(grad(largest)(tensor({3.0, 1.0, 3.0, 5.0, 2.0, 4.0})), {6},
                       {1, 0, 1, 2, 0, 0});
  const auto smallest = [&](const Tensor& v) { return sum(window_min(v, window)); };
  expect_values<float>(grad(smallest)(tensor({3.0, 1.0, 3.0, 5.0, 2.0, 4.0})), {6},
                       {1, 1, 0, 0, 1, 1});
}

TEST_P(GradientRules, windows_give_theirs_to_the_first_nan) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t dilation : {1, 2}) {
    const Window window{.dimensions = {3}, .dilations = Axes{dilation}};
    const auto largest = [&](const Tensor& v) { return sum(window_max(v, window)); };
    const Tensor x = dilation == 1 ? tensor({1.0, nan, nan}) : tensor({1.0, 5.0, nan, 5.0, nan});
    const std::vector<float> want =
        dilation == 1 ? std::vector<float>{0, 1, 0} : std::vector<float>{0, 0, 1, 0, 0};
    EXPECT_EQ(grad(largest)(x).to_vector<float>(), want) << dilation;
  }
}

TEST_P(GradientRules, what_has_no_rule_is_refused_by_name) {
  const Error quotients =
      error_of([] { return pulled([](const Tensor& v) { return quotient(v, 2); }, tensor({7})); });
  EXPECT_EQ(quotients.code(), ErrorCode::unsupported);
  EXPECT_EQ(quotients.op(), "quotient");
  const Error products = error_of([] {
    return slope([](const Tensor& v) { return window_product(v, {.dimensions = {2}}); }, ones({3}));
  });
  EXPECT_EQ(products.code(), ErrorCode::unsupported);
  EXPECT_EQ(products.op(), "window_product");
}

TEST_P(GradientRules, nothing_flows_through_integers) {
  // The cast to a float ends the way back, so the quotient is not asked for a rule that it lacks.
  const auto f = [](const Tensor& v) {
    return as_type(quotient(as_type(v, DType::s32), 2), DType::f32) + v;
  };
  expect_values<float>(slope(f, tensor({4.0, 9.0})), {2}, {1, 1});
}

TEST_P(GradientRules, ties_of_two_are_halved_on_either_side) {
  const Tensor a = tensor({1.0, 2.0, 3.0});
  const Tensor b = tensor({3.0, 2.0, 1.0});
  const auto by_both = [&](Tensor (*of)(const TensorLike&, const TensorLike&)) {
    return grad([of](const std::pair<Tensor, Tensor>& x) { return sum(of(x.first, x.second)); })(
        std::pair{a, b});
  };
  const auto [more_a, more_b] = by_both(&max);
  expect_values<float>(more_a, {3}, {0, 0.5, 1});
  expect_values<float>(more_b, {3}, {1, 0.5, 0});
  const auto [less_a, less_b] = by_both(&min);
  expect_values<float>(less_a, {3}, {1, 0.5, 0});
  expect_values<float>(less_b, {3}, {0, 0.5, 1});
}

TEST_P(GradientRules, all_equal_extremes_share_along_their_axes) {
  const Tensor x = tensor({{1.0, 4.0, 4.0, 4.0}, {2.0, 2.0, 5.0, 2.0}});
  const Tensor weights = tensor({3.0, 6.0});
  const auto most = [&](const Tensor& v) { return reduce_max(v, {Axes{1}}) * weights; };
  const auto least = [&](const Tensor& v) {
    return reduce_min(v, {Axes{1}, true}) * new_axis(weights, 1);
  };
  expect_near(slope(most, x), {0, 1, 1, 1, 0, 0, 6, 0});
  expect_near(slope(least, x), {3, 0, 0, 0, 2, 2, 0, 2});
}

TEST_P(GradientRules, windows_send_theirs_to_the_first_extreme) {
  const Tensor x = tensor({5.0, 5.0, 1.0, 1.0, 5.0});
  const Tensor weights = tensor({1.0, 10.0, 100.0, 1000.0});
  const auto most = [&](const Tensor& v) { return window_max(v, {.dimensions = {2}}) * weights; };
  const auto least = [&](const Tensor& v) { return window_min(v, {.dimensions = {2}}) * weights; };
  expect_values<float>(slope(most, x), {5}, {1, 10, 100, 0, 1000});
  expect_values<float>(slope(least, x), {5}, {1, 0, 110, 1000, 0});
  const Window apart{.dimensions = {2, 2}, .strides = Axes{2, 1}, .padding = PadRule::same};
  for (const auto of : {&window_max, &window_min})
    expect_gradient([&](const auto& v) { return of(v[0], apart); }, {sample({3, 4})});
}

TEST_P(GradientRules, limits_get_what_the_operand_does_not) {
  using Three = std::array<Tensor, 3>;
  const auto [x, low, high] = grad([](const Three& v) {
    return sum(clip(v[0], v[1], v[2]) * tensor({1.0, 10.0, 100.0, 1000.0, 10000.0}));
  })(Three{tensor({-1.0, 0.0, 0.5, 1.0, 2.0}), tensor(0.0), tensor(1.0)});
  expect_values<float>(x, {5}, {0, 10, 100, 1000, 0});
  expect_values<float>(low, {}, {1});
  expect_values<float>(high, {}, {10000});
}

TEST_P(GradientRules, products_by_a_zero_are_those_of_the_others) {
  const auto rows = [](const Tensor& v) { return product(v, {Axes{1}}); };
  expect_near(slope(rows, tensor({{2.0, 3.0, 4.0}, {2.0, 0.0, 4.0}, {0.0, 3.0, 0.0}})),
              {12, 8, 6, 0, 8, 0, 0, 0, 0});
}

TEST_P(GradientRules, powers_of_zero_are_no_nan) {
  const auto [base, exponent] = grad([](const std::pair<Tensor, Tensor>& v) {
    return sum(pow(v.first, v.second));
  })(std::pair{tensor({0.0, 0.0, 0.0, 3.0, 2.0}), tensor({0.0, 1.0, 2.0, 0.0, 3.0})});
  expect_near(base, {0, 1, 0, 0, 12}, 1e-5);
  expect_near(exponent, {0, 0, 0, std::log(3.0), 8 * std::log(2.0)}, 1e-5);
}

TEST_P(GradientRules, remainders_fall_by_the_whole_quotient) {
  // a - b·trunc(a / b): where the quotient is negative that is not -floor(a / b).
  const auto [a, b] = grad([](const std::pair<Tensor, Tensor>& v) {
    return sum(v.first % v.second);
  })(std::pair{tensor({7.0, -7.0, 7.0, -7.0}), tensor({2.0, 2.0, -2.0, -2.0})});
  expect_values<float>(a, {4}, {1, 1, 1, 1});
  expect_values<float>(b, {4}, {-3, 3, 3, -3});
}

TEST_P(GradientRules, sorted_elements_send_theirs_back) {
  const Tensor x = tensor({{3.0, 1.0}, {1.0, 2.0}, {2.0, 2.0}});
  const Tensor weights = tensor({{1.0}, {10.0}, {100.0}});
  const auto up = [&](const Tensor& v) { return sort(v, 0) * weights; };
  const auto down = [&](const Tensor& v) { return sort(v, 0, Direction::descending) * weights; };
  // Equal ones keep their order either way.
  expect_values<float>(slope(up, x), {3, 2}, {100, 1, 1, 10, 10, 100});
  expect_values<float>(slope(down, x), {3, 2}, {1, 100, 100, 1, 10, 10});
}

TEST_P(GradientRules, what_is_taken_twice_gets_both) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  const auto counted = [&](const OfOne& f, const std::vector<float>& want) {
    expect_values<float>(slope(f, x), {3, 2}, want);
  };
  counted([](const Tensor& v) { return take(v, tensor({2, 2, 0})); }, {1, 1, 0, 0, 2, 2});
  counted(
      [](const Tensor& v) {
        return take_along_axis(v, tensor({{0, 1}, {0, 1}}));
      },
      {2, 0, 0, 2, 0, 0});
  counted(
      [](const Tensor& v) {
        return gather(v, tensor({{2, 1}, {2, 1}, {0, 0}}));
      },
      {1, 0, 0, 0, 0, 2});
  counted(
      [](const Tensor& v) {
        return gather(v, tensor({{1}, {1}, {1}}), Axes{1});
      },
      {0, 3, 0, 3, 0, 3});
  counted([](const Tensor& v) { return broadcast(v, {4, 3, 2}); }, {4, 4, 4, 4, 4, 4});
  counted([](const Tensor& v) { return concatenate({v, v, v}); }, {3, 3, 3, 3, 3, 3});
  // Where the index is out of range the nearest element is read, and gets the gradient.
  counted([](const Tensor& v) { return take(v, tensor({-4, 9})); }, {1, 1, 0, 0, 1, 1});
}

TEST_P(GradientRules, sizes_have_none_at_zero) {
  const auto size = [](const Tensor& v) { return abs(v); };
  expect_values<float>(slope(size, tensor({-2.0, 0.0, 3.0})), {3}, {-1, 0, 1});
  expect_values<float>(slope([](const Tensor& v) { return relu(v); }, tensor({-2.0, 0.0, 3.0})),
                       {3}, {0, 0, 1});
}

INSTANTIATE_TEST_SUITE_P(Devices, GradientRules, every_device(), device_name);

}  // namespace
}  // namespace stoker
