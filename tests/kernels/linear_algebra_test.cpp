// What the factorizations must hold for matrices that the conformance suites cannot draw: positive
// definite, large, singular, empty, and with NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cpu_run.hpp"

namespace stoker {
namespace {

/// One tensor of doubles, given to kernels as f32 or f64.
struct Tensor {
  Shape shape;
  std::vector<double> values;
};

template <class T>
std::vector<Tensor> run(std::string_view name, const std::vector<Tensor>& inputs,
                        const Params& params = {}) {
  std::vector<TensorSpec> specs;
  std::vector<Bytes> bytes;
  for (const Tensor& tensor : inputs) {
    specs.push_back({dtype_of<T>, tensor.shape});
    const std::vector<T> elements(tensor.values.begin(), tensor.values.end());
    bytes.push_back(bytes_of(std::span{elements}));
  }
  const KernelOutputs made = run_kernel(name, specs, bytes, params);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < made.specs.size(); ++i) {
    const std::vector<T> elements = values_in<T>(made.bytes[i]);
    results.push_back({made.specs[i].shape, {elements.begin(), elements.end()}});
  }
  return results;
}

std::size_t extent(const Tensor& t, std::size_t from_end) {
  return static_cast<std::size_t>(t.shape[t.shape.rank() - from_end]);
}

Tensor transposed(const Tensor& t) {
  const std::size_t rows = extent(t, 2), columns = extent(t, 1);
  Tensor result{t.shape.with(t.shape.rank() - 2, t.shape[t.shape.rank() - 1])
                    .with(t.shape.rank() - 1, t.shape[t.shape.rank() - 2]),
                std::vector<double>(t.values.size())};
  for (std::size_t i = 0; i < t.values.size(); ++i) {
    const std::size_t in_matrix = i % (rows * columns);
    const std::size_t at = in_matrix % columns * rows + in_matrix / columns;
    result.values[i - in_matrix + at] = t.values[i];
  }
  return result;
}

Tensor product(const Tensor& a, const Tensor& b) {
  const std::size_t rows = extent(a, 2), inner = extent(a, 1), columns = extent(b, 1);
  const Shape shape = a.shape.with(a.shape.rank() - 1, b.shape[b.shape.rank() - 1]);
  Tensor c{shape, std::vector<double>(static_cast<std::size_t>(shape.elements()), 0)};
  for (std::size_t row = 0; row < (columns ? c.values.size() / columns : 0); ++row)
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t j = 0; j < columns; ++j)
        c.values[row * columns + j] +=
            a.values[row * inner + k] * b.values[(row / rows * inner + k) * columns + j];
  return c;
}

Tensor random_tensor(Shape shape, unsigned seed = 1) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> draw{-1, 1};
  Tensor t{shape, std::vector<double>(static_cast<std::size_t>(shape.elements()))};
  for (double& value : t.values) value = static_cast<float>(draw(random));
  return t;
}

/// B·Bᵀ / n + 1, rounded to f32.
Tensor positive_definite(Shape shape) {
  const Tensor b = random_tensor(shape);
  Tensor a = product(b, transposed(b));
  const std::size_t n = extent(a, 1);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const bool diagonal = i / n % n == i % n;
    a.values[i] = static_cast<float>(a.values[i] / static_cast<double>(n) + (diagonal ? 1.0 : 0.0));
  }
  return a;
}

Tensor diagonal(const Tensor& values, Shape shape) {
  Tensor d{shape, std::vector<double>(static_cast<std::size_t>(shape.elements()), 0)};
  const std::size_t rows = extent(d, 2), columns = extent(d, 1), k = std::min(rows, columns);
  for (std::size_t i = 0; i < values.values.size(); ++i)
    d.values[i / k * rows * columns + i % k * (columns + 1)] = values.values[i];
  return d;
}

void expect_near(const Tensor& got, const Tensor& want, double bound) {
  ASSERT_EQ(got.shape, want.shape);
  double worst = 0;
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    ASSERT_FALSE(std::isnan(got.values[i])) << "element " << i;
    worst = std::max(worst, std::abs(got.values[i] - want.values[i]));
  }
  EXPECT_LE(worst, bound) << got.shape.to_string();
}

/// The columns of `q` have length 1 and are orthogonal.
void expect_orthonormal(const Tensor& q, double bound) {
  const Tensor square = product(transposed(q), q);
  Tensor ones{square.shape.without(square.shape.rank() - 1), {}};
  ones.values.assign(static_cast<std::size_t>(ones.shape.elements()), 1);
  expect_near(square, diagonal(ones, square.shape), bound);
}

bool all_nan(const Tensor& t, std::size_t from, std::size_t to) {
  return std::all_of(t.values.begin() + static_cast<std::ptrdiff_t>(from),
                     t.values.begin() + static_cast<std::ptrdiff_t>(to),
                     [](double value) { return std::isnan(value); });
}

const double nan = std::nan("");

template <class T> class LinearAlgebra : public testing::Test {
 public:
  static constexpr double unit = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearAlgebra, Types);

TYPED_TEST(LinearAlgebra, cholesky_reproduces_its_input_from_the_lower_triangle) {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 7, 7}, Shape{33, 33}, Shape{2, 150, 150}}) {
    const Tensor a = positive_definite(shape);
    Tensor lower = a;
    const std::size_t n = extent(a, 1);
    for (std::size_t i = 0; i < a.values.size(); ++i)
      if (i % n > i / n % n) lower.values[i] = nan;
    const Tensor l = run<TypeParam>("cholesky", {lower})[0];
    for (std::size_t i = 0; i < l.values.size(); ++i)
      ASSERT_TRUE(i % n <= i / n % n || l.values[i] == 0) << i;
    expect_near(product(l, transposed(l)), a, 50 * this->unit);
  }
}

TYPED_TEST(LinearAlgebra, cholesky_marks_only_the_matrix_that_has_no_factor) {
  Tensor a = positive_definite(Shape{4, 40, 40});
  a.values[1600] = -1;
  a.values[2 * 1600 + 39 * 40 + 3] = nan;
  const Tensor l = run<TypeParam>("cholesky", {a})[0];
  EXPECT_FALSE(std::isnan(l.values[1599]));
  EXPECT_TRUE(all_nan(l, 1600, 3 * 1600));
  EXPECT_FALSE(std::isnan(l.values[3 * 1600]));
}

TYPED_TEST(LinearAlgebra, lu_reproduces_its_input) {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{9, 4, 4}, Shape{2, 90, 50}, Shape{2, 50, 90}, Shape{200, 200}}) {
    const Tensor a = random_tensor(shape);
    const auto f = run<TypeParam>("lu", {a});
    expect_near(product(product(f[0], f[1]), f[2]), a, 200 * this->unit);
  }
}

TYPED_TEST(LinearAlgebra, lu_takes_singular_and_empty_matrices) {
  const Tensor a{Shape{3, 3}, {1, 2, 3, 2, 4, 6, 0, 0, 0}};
  const auto f = run<TypeParam>("lu", {a});
  expect_near(product(product(f[0], f[1]), f[2]), a, 0);
  const auto tall = run<TypeParam>("lu", {Tensor{Shape{2, 2, 0}, {}}});
  EXPECT_EQ(tall[0].values, (std::vector<double>{1, 0, 0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(tall[1].shape, (Shape{2, 2, 0}));
  EXPECT_EQ(tall[2].shape, (Shape{2, 0, 0}));
}

TYPED_TEST(LinearAlgebra, determinants_of_nothing_singular_and_large_matrices) {
  EXPECT_EQ(run<TypeParam>("determinant", {Tensor{Shape{2, 0, 0}, {}}})[0].values,
            (std::vector<double>{1, 1}));
  Tensor zero{Shape{5, 5}, std::vector<double>(25, 1)};
  EXPECT_EQ(run<TypeParam>("determinant", {zero})[0].values[0], 0);
  zero.values[7] = nan;
  EXPECT_TRUE(std::isnan(run<TypeParam>("determinant", {zero})[0].values[0]));
  Tensor cycle{Shape{4, 4}, {0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0}};
  EXPECT_EQ(run<TypeParam>("determinant", {cycle})[0].values[0], -16);
}

TYPED_TEST(LinearAlgebra, solve_and_triangular_solve_undo_a_product) {
  for (const std::int64_t n : {1, 8, 130}) {
    const Tensor a = positive_definite(Shape{3, n, n});
    const Tensor x = random_tensor(Shape{3, n, 17}, 2);
    expect_near(run<TypeParam>("solve", {a, product(a, x)})[0], x, 200 * this->unit);
    const Tensor l = run<double>("cholesky", {a})[0];
    expect_near(run<TypeParam>("triangular_solve", {l, product(l, x)})[0], x, 200 * this->unit);
    expect_near(run<TypeParam>("triangular_solve", {l, product(transposed(l), x)},
                               {{"transpose", true}})[0],
                x, 200 * this->unit);
    const Tensor rows = transposed(x);
    expect_near(run<TypeParam>("triangular_solve", {transposed(l), product(rows, transposed(l))},
                               {{"lower", false}, {"left_side", false}})[0],
                rows, 200 * this->unit);
  }
}

TYPED_TEST(LinearAlgebra, singular_systems_give_no_finite_answer) {
  const Tensor a{Shape{2, 2}, {1, 2, 2, 4}};
  const Tensor b{Shape{2, 1}, {1, 1}};
  const Tensor none = run<TypeParam>("solve", {a, b})[0];
  for (const double value : none.values) EXPECT_FALSE(std::isfinite(value));
  const Tensor l{Shape{2, 2}, {1, nan, 1, 0}};
  const auto x = run<TypeParam>("triangular_solve", {l, b})[0].values;
  EXPECT_EQ(x[0], 1);
  EXPECT_FALSE(std::isfinite(x[1]));
}

TYPED_TEST(LinearAlgebra, qr_reproduces_its_input) {
  for (const Shape& shape : {Shape{1, 1}, Shape{7, 3, 3}, Shape{2, 90, 60}, Shape{2, 60, 90},
                             Shape{3, 4, 0}, Shape{5, 1}, Shape{1, 5}})
    for (const char* mode : {"reduced", "complete"}) {
      const Tensor a = random_tensor(shape);
      const auto f = run<TypeParam>("qr", {a}, {{"mode", mode}});
      expect_near(product(f[0], f[1]), a, 100 * this->unit);
      expect_orthonormal(f[0], 100 * this->unit);
      const std::size_t rows = extent(f[1], 2), columns = extent(f[1], 1);
      for (std::size_t i = 0; i < f[1].values.size(); ++i)
        ASSERT_TRUE(i % columns >= i / columns % rows || f[1].values[i] == 0) << i;
    }
}

TYPED_TEST(LinearAlgebra, qr_takes_columns_that_depend_on_each_other) {
  const Tensor a{Shape{3, 2}, {1, 2, 1, 2, 1, 2}};
  const auto f = run<TypeParam>("qr", {a});
  expect_near(product(f[0], f[1]), a, 10 * this->unit);
  expect_orthonormal(f[0], 10 * this->unit);
}

TYPED_TEST(LinearAlgebra, eigh_finds_values_in_order_and_vectors) {
  for (const Shape& shape : {Shape{1, 1}, Shape{9, 4, 4}, Shape{2, 100, 100}}) {
    const Tensor a = positive_definite(shape);
    const auto f = run<TypeParam>("eigh", {a});
    for (std::size_t i = 1; i < f[0].values.size(); ++i)
      ASSERT_TRUE(i % extent(a, 1) == 0 || f[0].values[i - 1] <= f[0].values[i]) << i;
    expect_near(product(a, f[1]), product(f[1], diagonal(f[0], a.shape)), 300 * this->unit);
    expect_orthonormal(f[1], 200 * this->unit);
  }
}

TYPED_TEST(LinearAlgebra, eigh_makes_the_first_large_component_positive) {
  const auto f = run<TypeParam>("eigh", {Tensor{Shape{2, 2}, {2, nan, 1, 2}}});
  expect_near(f[0], Tensor{Shape{2}, {1, 3}}, 8 * this->unit);
  const double h = std::sqrt(0.5);
  expect_near(f[1], Tensor{Shape{2, 2}, {h, h, -h, h}}, 8 * this->unit);
}

TYPED_TEST(LinearAlgebra, eigh_and_svd_mark_only_the_matrix_with_nan) {
  Tensor a = positive_definite(Shape{3, 20, 20});
  a.values[400 + 19 * 20] = nan;
  for (const char* name : {"eigh", "svd"})
    for (const Tensor& output : run<TypeParam>(name, {a})) {
      const std::size_t third = output.values.size() / 3;
      EXPECT_FALSE(std::isnan(output.values[0])) << name;
      EXPECT_TRUE(all_nan(output, third, 2 * third)) << name;
      EXPECT_FALSE(std::isnan(output.values[2 * third])) << name;
    }
}

TYPED_TEST(LinearAlgebra, svd_reproduces_its_input) {
  for (const Shape& shape : {Shape{1, 1}, Shape{7, 3, 3}, Shape{2, 70, 40}, Shape{2, 40, 70},
                             Shape{30, 3}, Shape{3, 30}, Shape{2, 3, 0}, Shape{0, 3}})
    for (const bool full : {false, true}) {
      const Tensor a = random_tensor(shape);
      const auto f = run<TypeParam>("svd", {a}, {{"full_matrices", full}});
      const Shape middle = f[0].shape.with(shape.rank() - 2, f[0].shape[shape.rank() - 1])
                               .with(shape.rank() - 1, f[2].shape[shape.rank() - 2]);
      expect_near(product(product(f[0], diagonal(f[1], middle)), f[2]), a, 100 * this->unit);
      expect_orthonormal(f[0], 100 * this->unit);
      expect_orthonormal(transposed(f[2]), 100 * this->unit);
      const std::size_t k = extent(f[1], 1);
      for (std::size_t i = 1; i < f[1].values.size(); ++i)
        ASSERT_TRUE(i % k == 0 || f[1].values[i - 1] >= f[1].values[i]) << i;
    }
}

TYPED_TEST(LinearAlgebra, svd_takes_matrices_of_lower_rank) {
  for (const double value : {0.0, 1.0}) {
    const Tensor a{Shape{24, 20}, std::vector<double>(480, value)};
    const auto f = run<TypeParam>("svd", {a}, {{"full_matrices", false}});
    expect_near(product(product(f[0], diagonal(f[1], Shape{20, 20})), f[2]), a, 1000 * this->unit);
    expect_orthonormal(f[0], 100 * this->unit);
    EXPECT_NEAR(f[1].values[0], value * std::sqrt(480.0), 1000 * this->unit);
    EXPECT_NEAR(f[1].values[1], 0, 1000 * this->unit);
  }
}

/// Rows and columns that repeat, so that there are few directions and equal singular values.
std::vector<Tensor> structured_matrices() {
  std::vector<Tensor> made;
  const auto add = [&](std::int64_t rows, std::int64_t columns, auto element) {
    Tensor a{Shape{rows, columns}, {}};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) a.values.push_back(element(i, j));
    made.push_back(std::move(a));
  };
  add(100, 100, [](auto, auto) { return 1.0; });
  add(32, 16, [](auto, auto) { return 1.0; });
  for (const std::int64_t n : {16, 17, 31, 46, 64, 90, 129}) {
    add(n, n, [](auto i, auto j) { return static_cast<double>((i % 4 - 1) * (j % 3 - 1)); });
    add(n, n + 9, [](auto i, auto j) { return static_cast<double>((i % 5 - 2) * (j % 7 - 1)); });
    add(n, n, [](auto i, auto j) { return i == j ? 1.0 : 0.0; });
    add(n, n, [](auto i, auto j) { return i / 8 == j / 8 ? 1.0 : 0.0; });
    add(n + 5, n, [](auto i, auto j) { return static_cast<double>(i % 3 + j % 2); });
    add(n, n,
        [n](auto i, auto j) { return i + j == n - 1 ? static_cast<double>(1 + i % 2) : 0.0; });
    add(n, n, [](auto i, auto j) { return j == 3 ? static_cast<double>(i) : 0.0; });
  }
  return made;
}

TYPED_TEST(LinearAlgebra, svd_and_eigh_take_structured_matrices_of_low_rank) {
  for (const Tensor& a : structured_matrices()) {
    SCOPED_TRACE(a.shape.to_string());
    const auto f = run<TypeParam>("svd", {a}, {{"full_matrices", true}});
    expect_near(product(product(f[0], diagonal(f[1], a.shape)), f[2]), a,
                400 * this->unit * std::max(1.0, f[1].values[0]));
    expect_orthonormal(f[0], 100 * this->unit);
    expect_orthonormal(transposed(f[2]), 100 * this->unit);
    const Tensor square = product(transposed(a), a);
    const auto e = run<TypeParam>("eigh", {square});
    expect_orthonormal(e[1], 400 * this->unit);
    const double size = std::max(1.0, e[0].values.back());
    expect_near(product(square, e[1]), product(e[1], diagonal(e[0], square.shape)),
                200 * this->unit * size);
  }
}

TEST(LinearAlgebraRules, say_what_does_not_fit) {
  for (const char* name : {"cholesky", "eigh", "determinant"}) {
    const auto refused = infer(name, {{DType::f32, Shape{2, 3, 4}}});
    ASSERT_TRUE(refused.has_error()) << name;
    EXPECT_EQ(refused.error().code(), ErrorCode::shape_mismatch);
    EXPECT_EQ(refused.error().op(), name);
    EXPECT_EQ(refused.error().detail("input"), "[2,3,4]");
  }
  for (const char* name : {"cholesky", "eigh", "determinant", "lu", "qr", "svd"}) {
    EXPECT_EQ(infer(name, {{DType::f32, Shape{3}}}).error().code(), ErrorCode::shape_mismatch);
    EXPECT_EQ(infer(name, {{DType::s32, Shape{3, 3}}}).error().code(), ErrorCode::dtype_mismatch);
  }
  const TensorSpec a{DType::f32, Shape{2, 3, 3}};
  for (const char* name : {"solve", "triangular_solve"}) {
    EXPECT_TRUE(infer(name, {a, {DType::f32, Shape{2, 3, 5}}}).has_value());
    EXPECT_EQ(infer(name, {a, {DType::f64, Shape{2, 3, 5}}}).error().code(),
              ErrorCode::dtype_mismatch);
    for (const Shape& b : {Shape{2, 5, 3}, Shape{3, 3, 5}, Shape{3, 5}, Shape{3}})
      EXPECT_EQ(infer(name, {a, {DType::f32, b}}).error().code(), ErrorCode::shape_mismatch);
  }
  EXPECT_EQ(infer("triangular_solve", {a, {DType::f32, Shape{2, 3, 5}}}, {{"left_side", false}})
                .error()
                .reason(),
            "expected b with 3 columns, got 5");
  EXPECT_EQ(infer("qr", {a}, {{"mode", "full"}}).error().code(), ErrorCode::invalid_parameter);
}

}  // namespace
}  // namespace stoker
