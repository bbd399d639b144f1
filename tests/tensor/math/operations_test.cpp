// Positions, order, windows, random numbers and linear algebra, and their gradients.
#include "stoker/tests/tensor/differences.hpp"

namespace stoker {
namespace {

using Operations = Tensors;

TEST_F(Operations, take_elements_by_position) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  expect_values<int>(take(x, tensor({2, 0}), 1), {2, 2}, {3, 1, 6, 4});
  expect_values<int>(take(x, tensor({{1}, {9}})), {2, 1, 3}, {4, 5, 6, 4, 5, 6});
  expect_values<int>(take_along_axis(x, tensor({{0}, {2}}), 1), {2, 1}, {1, 6});
  expect_values<int>(gather(x, tensor({{1, 2}, {0, 0}})), {2}, {6, 1});
  expect_values<int>(indexed_add(x, tensor({{0, 0}, {0, 0}}), tensor({10, 5})), {2, 3},
                     {16, 2, 3, 4, 5, 6});
  const Tensor twice = tensor({{0, 1}, {0, 1}, {1, 2}});
  expect_values<int>(indexed_multiply(x, twice, tensor({10, -5, 2})), {2, 3},
                     {1, -100, 3, 4, 5, 12});
  expect_values<int>(indexed_max(x, twice, tensor({10, -5, 2})), {2, 3}, {1, 10, 3, 4, 5, 6});
  expect_values<int>(indexed_min(x, twice, tensor({10, -5, 2})), {2, 3}, {1, -5, 3, 4, 5, 2});
  expect_values<int>(indexed_put(x, tensor({{1}}), tensor({{7, 8, 9}})), {2, 3},
                     {1, 2, 3, 7, 8, 9});
  expect_values<int>(dynamic_slice(x, tensor({5, 1}), {1, 2}), {1, 2}, {5, 6});
  expect_values<int>(put_slice(x, tensor({0, 5}), tensor({{7}, {8}})), {2, 3}, {1, 2, 7, 4, 5, 8});
}

TEST_F(Operations, put_elements_in_order) {
  const Tensor x = tensor({3.0, double{NAN}, 1.0, 2.0});
  expect_values<int>(argsort(x), {4}, {2, 3, 0, 1});
  expect_values<int>(argsort(x, 0, Direction::descending), {4}, {1, 0, 3, 2});
  expect_values<int>(sort(tensor({{3, 1}, {2, 5}}), 1), {2, 2}, {1, 3, 2, 5});
  const TopK best = top_k(tensor({{1, 9, 4}}), 2);
  expect_values<int>(best.values, {1, 2}, {9, 4});
  expect_values<int>(best.indices, {1, 2}, {1, 2});
  expect_values<int>(cumulative_sum(tensor({1, 2, 3})), {3}, {1, 3, 6});
  expect_values<int>(cumulative_sum(tensor({1, 2, 3}), 0, true), {3}, {6, 5, 3});
  expect_values<int>(cumulative_product(tensor({1, 2, 3})), {3}, {1, 2, 6});
  expect_values<int>(cumulative_max(tensor({1, 3, 2})), {3}, {1, 3, 3});
  expect_values<int>(diff(tensor({1, 4, 9})), {2}, {3, 5});
  expect_values<int>(diff(tensor({1, 4, 9}), 2), {1}, {2});
  EXPECT_EQ(median(tensor({3, 1, 2})).item<int>(), 2);
  EXPECT_EQ(median(tensor({3, 1, 2, 4})).item<float>(), 2.5F);
}

TEST_F(Operations, reduce_windows) {
  const Tensor x = tensor({1, 2, 3, 4});
  expect_values<int>(window_sum(x, {.dimensions = {2}}), {3}, {3, 5, 7});
  expect_values<int>(window_max(x, {.dimensions = {2}, .strides = Axes{2}}), {2}, {2, 4});
  expect_values<int>(window_sum(x, {.dimensions = {3}, .padding = PadRule::same}), {4},
                     {3, 6, 9, 7});
  expect_near(
      window_mean(x, {.dimensions = {2},
                      .padding = std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 0}}}),
      {0.5, 1.5, 2.5, 3.5});
  expect_values<int>(window_sum(x, {.dimensions = {2}, .dilations = Axes{2}}), {2}, {4, 6});
  expect_values<int>(window_scatter_max(tensor({1, 5, 5, 2}), tensor({10, 20}), 0,
                                        {.dimensions = {2}, .strides = Axes{2}}),
                     {4}, {0, 10, 20, 0});
}

TEST_F(Operations, have_gradients) {
  const auto check = [](auto function, const Tensor& x, const std::vector<double>& want) {
    expect_near(grad([&](const Tensor& v) {
                  const Tensor y = function(v);
                  return sum(y * (iota(y.shape(), y.dtype()) + 1));
                })(x),
                want, 1e-9);
  };
  const Tensor x = tensor<double>({3.0, 1.0, 2.0});
  check([](const Tensor& v) { return take(v, tensor({2, 2, 0})); }, x, {3, 0, 3});
  check([](const Tensor& v) { return sort(v); }, x, {3, 1, 2});
  check([](const Tensor& v) { return top_k(v, 2).values; }, x, {1, 0, 2});
  check([](const Tensor& v) { return cumulative_sum(v); }, x, {6, 5, 3});
  check([](const Tensor& v) { return take_along_axis(v, tensor({0, 0, 1})); }, x, {3, 3, 0});
  check([](const Tensor& v) { return gather(v, tensor({{1}, {1}})); }, x, {0, 3, 0});
  check([](const Tensor& v) { return dynamic_slice(v, tensor({1}), {2}); }, x, {0, 1, 2});
  check([](const Tensor& v) { return put_slice(v, tensor({1}), tensor<double>({7.0})); }, x,
        {1, 0, 3});
  check(
      [](const Tensor& v) {
        return indexed_add(v * 0, tensor({{0}, {0}, {2}}), v);
      },
      x, {1, 1, 3});
  // 4 comes to the first place, 3 stays at the second, and two that are 2 share the third.
  check(
      [](const Tensor& v) {
        return indexed_max(tensor<double>({3.5, 3.0, 2.0}), tensor({{0}, {1}, {2}}), v * 2 - 2);
      },
      x, {2, 0, 3});
  check(
      [](const Tensor& v) {
        return indexed_min(v, tensor({{0}, {0}, {2}}), tensor<double>({5.0, 2.0, 2.0}));
      },
      x, {0, 2, 1.5});
  check([](const Tensor& v) { return window_sum(v, {.dimensions = {2}}); }, x, {1, 3, 2});
  check([](const Tensor& v) { return window_max(v, {.dimensions = {2}}); }, x, {1, 0, 2});
  check(
      [](const Tensor& v) {
        return window_sum(v, {.dimensions = {2}, .strides = Axes{2}, .padding = PadRule::same});
      },
      x, {1, 1, 2});
}

TEST_F(Operations, draw_the_numbers_of_their_key) {
  const Tensor key = random::key(42);
  const auto [a, next] = random::uniform(key, {1000});
  const auto [b, after] = random::uniform(key, {1000});
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>()) << "the same key, the same numbers";
  const auto [c, later] = random::uniform(next, {1000});
  EXPECT_NE(a.to_vector<float>(), c.to_vector<float>());
  for (const float one : a.to_vector<float>()) EXPECT_TRUE(one >= 0 && one < 1);
  EXPECT_NEAR(mean(a).item<double>(), 0.5, 0.05);
  const Tensor noise = random::normal(key, {4000}, 3, 2).values;
  EXPECT_NEAR(mean(noise).item<double>(), 3, 0.15);
  EXPECT_NEAR(standard_deviation(noise).item<double>(), 2, 0.1);
  for (const int one : random::randint(key, -3, 4, {500}).values.to_vector<int>())
    EXPECT_TRUE(one >= -3 && one < 4);
  EXPECT_EQ(random::split(key, 3).shape(), (Shape{3, 2}));
  EXPECT_NE(random::fold_in(key, 1).to_vector<std::uint32_t>(),
            random::fold_in(key, 2).to_vector<std::uint32_t>());
}

TEST_F(Operations, shuffle_and_choose) {
  const Tensor key = random::key(7);
  const Tensor order = random::shuffle(key, iota({50})).values;
  EXPECT_NE(order.to_vector<int>(), iota({50}).to_vector<int>());
  EXPECT_EQ(sort(order).to_vector<int>(), iota({50}).to_vector<int>());
  const Tensor some = random::choice(key, iota({10}), {.samples = 10, .replace = false}).values;
  EXPECT_EQ(sort(some).to_vector<int>(), iota({10}).to_vector<int>());
  const Tensor heavy =
      random::choice(key, iota({3}), {.samples = 50, .weights = tensor({0.0, 1.0, 0.0})}).values;
  EXPECT_EQ(heavy.to_vector<int>(), std::vector<int>(50, 1));
}

TEST_F(Operations, factor_and_solve) {
  const Tensor a = tensor<double>({{4.0, 1.0, 0.5}, {1.0, 3.0, 0.25}, {0.5, 0.25, 2.0}});
  const std::vector<double> same = a.to_vector<double>();
  const Tensor l = linalg::cholesky(a);
  expect_near(matmul(l, transpose(l)), same, 1e-12);
  const auto [p, lower, upper] = linalg::lu(a);
  expect_near(matmul(p, matmul(lower, upper)), same, 1e-12);
  const auto [q, r] = linalg::qr(a);
  expect_near(matmul(q, r), same, 1e-12);
  const auto [w, v] = linalg::eigh(a);
  expect_near(matmul(v * w, transpose(v)), same, 1e-12);
  const auto [u, s, vt] = linalg::svd(a);
  expect_near(matmul(u * s, vt), same, 1e-12);
  expect_near(matmul(linalg::invert(a), a), eye(3).to_vector<double>(), 1e-12);
  const Tensor b = tensor<double>({1.0, 2.0, 3.0});
  expect_near(matmul(a, linalg::solve(a, b)), {1, 2, 3}, 1e-12);
  expect_near(matmul(l, linalg::triangular_solve(l, b)), {1, 2, 3}, 1e-12);
  expect_near(matmul(linalg::pinv(a), a), eye(3).to_vector<double>(), 1e-10);
  EXPECT_EQ(linalg::matrix_rank(a).item<int>(), 3);
  EXPECT_NEAR(linalg::determinant(a).item<double>(), 21.25, 1e-12);
  expect_near(linalg::matrix_power(a, -2), linalg::invert(matmul(a, a)).to_vector<double>(), 1e-10);
  expect_near(linalg::norm(tensor({3.0, 4.0})), {5});
  expect_near(linalg::norm(tensor({3.0, -4.0}), 1), {7});
  expect_near(linalg::norm(tensor({3.0, -4.0}), linalg::inf), {4});
}

TEST_F(Operations, a_pseudoinverse_measures_what_counts_as_zero_by_the_largest_singular_value) {
  for (const double scale : {1e-12, 1.0, 1e12}) {
    const Tensor full = tensor<double>({{2.0, 0.0}, {0.0, 1.0}}) * scale;
    expect_near(linalg::pinv(full) * scale, {0.5, 0, 0, 1}, 1e-12);
    expect_near(linalg::pinv(full, 0.6) * scale, {0.5, 0, 0, 0}, 1e-12);
    // Of rank 1: what rounding leaves of the other singular value is no value.
    const Tensor flat = tensor<float>({{1.0F, 2.0F}, {3.0F, 6.0F}}) * scale;
    expect_near(linalg::pinv(flat) * scale, {0.02, 0.06, 0.04, 0.12}, 1e-6);
  }
  EXPECT_THROW(static_cast<void>(linalg::pinv(eye(2), -1)), Error);
  EXPECT_THROW(static_cast<void>(linalg::pinv(eye(2), std::nan(""))), Error);
}

TEST_F(Operations, of_matrices_have_gradients) {
  const Tensor base = tensor<double>({{4.0, 1.0, 0.5}, {1.0, 3.0, 0.25}, {0.5, 0.25, 2.0}});
  const Tensor weights = cos(iota({3, 3}, DType::f64));
  const std::vector<std::pair<const char*, std::function<Tensor(const Tensor&)>>> functions = {
      {"cholesky",
       [&](const Tensor& a) { return sum(linalg::cholesky((a + transpose(a)) / 2) * weights); }},
      {"determinant", [](const Tensor& a) { return linalg::determinant(a); }},
      {"invert", [&](const Tensor& a) { return sum(linalg::invert(a) * weights); }},
      {"eigh values",
       [&](const Tensor& a) {
         return sum(linalg::eigh((a + transpose(a)) / 2).values * tensor<double>({1.0, 2.0, 4.0}));
       }},
      {"eigh vectors",
       [&](const Tensor& a) {
         return sum(linalg::eigh((a + transpose(a)) / 2).vectors * weights);
       }},
      {"triangular",
       [&](const Tensor& a) { return sum(linalg::triangular_solve(a, weights) * weights); }},
      {"triangular right", [&](const Tensor& a) {
         return sum(linalg::triangular_solve(
                        a, weights, {.lower = false, .left_side = false, .transpose = true}) *
                    weights);
       }}};
  for (const auto& [name, function] : functions) {
    SCOPED_TRACE(name);
    expect_gradient([&](const std::vector<Tensor>& x) { return function(x[0]); }, {base},
                    {1e-5, 1e-6});
  }
}

}  // namespace
}  // namespace stoker
