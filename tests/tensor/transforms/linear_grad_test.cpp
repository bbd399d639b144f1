// Gradients of what is linear, or made of linear steps, against central
// differences.
#include "stoker/tests/tensor/differences.hpp"
#include "stoker/tests/tensor/math/complex_numbers.hpp"

namespace stoker {
namespace {

class LinearGradients : public Tensors {
 protected:
  static void check(const char* name, const Function& function, const std::vector<Tensor>& at) {
    SCOPED_TRACE(name);
    expect_gradient(function, at, {1e-7});
  }
};

TEST_F(LinearGradients, of_elements_by_position) {
  const Tensor x = sample({3, 4});
  const Tensor rows = tensor({{2, 0}, {1, 3}, {2, 0}});
  check("gather", [&](const auto& v) { return gather(v[0], rows); }, {x});
  check("take_along_axis",
        [](const auto& v) {
          return take_along_axis(v[0], tensor({{0, 0}, {3, 1}, {2, 2}}), 1);
        },
        {x});
  check("indexed_add", [&](const auto& v) { return indexed_add(v[0], rows, v[1]); },
        {x, sample({3}, 1, 2)});
  check("indexed_add of rows",
        [](const auto& v) {
          return indexed_add(v[0], tensor({{1}, {1}}), v[1]);
        },
        {x, sample({2, 4}, 1, 2)});
  check("indexed_put",
        [](const auto& v) {
          return indexed_put(v[0], tensor({{2, 0}, {1, 3}}), v[1]);
        },
        {x, sample({2}, 1, 2)});
  check("indexed_put of columns",
        [](const auto& v) {
          return indexed_put(v[0], tensor({{3}, {0}}), v[1], Axes{1});
        },
        {x, sample({2, 3}, 1, 2)});
  check("put_slice",
        [](const auto& v) {
          return put_slice(v[0], tensor({1, 9}), v[1]);
        },
        {x, sample({2, 2}, 1, 2)});
  check("dynamic_slice",
        [](const auto& v) {
          return dynamic_slice(v[0], tensor({1, -1}), {2, 3});
        },
        {x});
}

TEST_F(LinearGradients, of_shapes) {
  const Tensor x = sample({2, 1, 3});
  check("squeeze", [](const auto& v) { return squeeze(v[0]); }, {x});
  check("new_axis", [](const auto& v) { return new_axis(v[0], 1); }, {x});
  check("transpose", [](const auto& v) { return transpose(v[0], Axes{2, 0, 1}); }, {x});
  check("stack",
        [](const auto& v) {
          return stack({v[0], v[1]}, -1);
        },
        {x, sample({2, 1, 3}, 1, 2)});
  check("concatenate",
        [](const auto& v) {
          return concatenate({v[0], v[1]}, 1);
        },
        {x, sample({2, 2, 3}, 1, 2)});
  check("pad",
        [](const auto& v) {
          return pad(v[0], v[1], {{1, -1, 2}, {0, 2, 0}, {-1, 1, 1}});
        },
        {x, sample({}, 1, 2)});
  check("select",
        [](const auto& v) {
          return select(tensor({1, 0, 1}), v[0], v[1]);
        },
        {x, sample({}, 1, 2)});
  check("nothing at all", [](const auto& v) { return slice(v[0], {0, 0, 0}, {0, 1, 3}); }, {x});
  const auto through_halves = [](const Tensor& v) {
    return as_type(as_type(v, DType::f16) * 2, DType::f64);
  };
  expect_near(grad([&](const Tensor& v) { return sum(through_halves(v)); })(sample({3})),
              {2, 2, 2});
}

TEST_F(LinearGradients, of_windows_and_scans) {
  const Tensor x = sample({5, 6});
  using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  for (const Window& window : std::vector<Window>{
           {.dimensions = {2, 3}},
           {.dimensions = {3, 2}, .strides = Axes{2, 3}, .padding = PadRule::same},
           {.dimensions = {2, 2}, .padding = Edges{{1, 0}, {2, 3}}, .dilations = Axes{3, 2}},
           {.dimensions = {2, 2}, .strides = Axes{3, 2}, .dilations = Axes{2, 3}}}) {
    check("window_sum", [&](const auto& v) { return window_sum(v[0], window); }, {x});
    check("window_mean", [&](const auto& v) { return window_mean(v[0], window); }, {x});
    // A window of nothing but padding gives an infinity.
    check("window_max", [&](const auto& v) { return max(window_max(v[0], window), -9); }, {x});
    check("window_min", [&](const auto& v) { return min(window_min(v[0], window), 9); }, {x});
    check("window_reduce",
          [&](const auto& v) {
            return window_reduce(v[0], 0, window,
                                 [](const Tensor& a, const Tensor& b) { return a + b * 2; });
          },
          {x});
  }
  for (const bool reverse : {false, true})
    for (const std::int64_t axis : {0, -1})
      check("cumulative_sum", [&](const auto& v) { return cumulative_sum(v[0], axis, reverse); },
            {x});
  check("outer", [](const auto& v) { return outer(v[0], v[1]); }, {sample({3}), sample({4}, 1, 2)});
}

TEST_F(LinearGradients, of_parts_of_complex_numbers) {
  const Numbers at{{1, 2}, {-0.5, 0.25}, {0.75, -1.5}};
  const auto weight = [](const Tensor& y) { return weighed(y); };
  expect_complex_differences([&](const Tensor& z) { return weight(real(z)); }, at);
  expect_complex_differences([&](const Tensor& z) { return weight(imag(z)); }, at);
  expect_complex_differences([&](const Tensor& z) { return weight(phase(z)); }, at);
  expect_complex_differences(
      [&](const Tensor& z) {
        return weight(imag(conjugate(z) * C{1, 2}));
      },
      at);
  for (Tensor (*const transform)(const Tensor&, const Fft&) : {&fft, &ifft})
    expect_complex_differences(
        [&](const Tensor& z) {
          const Tensor y = transform(z, {.length = 4, .eps = 0});
          return weight(real(y)) + weight(imag(y)) * 2;
        },
        at);
}

TEST_F(LinearGradients, of_transforms_whose_results_were_rounded_to_zero) {
  const Tensor g = grad([](const Tensor& x) { return sum(real(fft(x))); })(zeros({4}, DType::f64));
  expect_near(g, {4, 0, 0, 0}, 1e-12);
}

TEST_F(LinearGradients, of_what_is_solved) {
  const Tensor a = sample({3, 3}) + 4.0 * as_type(eye(3), DType::f64);
  const Tensor b = sample({3, 2}, -1, 1, 1);
  const Function solved = [](const auto& v) { return linalg::solve(v[0], v[1]); };
  expect_gradient(solved, {a, b});
  expect_gradient(solved, {a, sample({3})});
  for (const bool lower : {true, false})
    for (const bool left : {true, false})
      for (const bool transposed : {true, false}) {
        SCOPED_TRACE(testing::Message() << lower << left << transposed);
        expect_gradient(
            [&](const auto& v) {
              return linalg::triangular_solve(
                  v[0], v[1], {.lower = lower, .left_side = left, .transpose = transposed});
            },
            {a, left ? b : transpose(b)});
      }
}

TEST_F(LinearGradients, of_norms) {
  const Tensor x = sample({3, 4}, 0.2, 2);
  using linalg::inf, linalg::MatrixNorm, linalg::NormOrder;
  for (const NormOrder& ord :
       std::vector<NormOrder>{{}, 1, -1, inf, -inf, MatrixNorm::fro, 2, -2, MatrixNorm::nuc}) {
    const Tensor at = sample({3, 3}, 0.2, 2) + 2.0 * as_type(eye(3), DType::f64);
    expect_gradient([&](const auto& v) { return linalg::norm(v[0], ord); }, {at}, {1e-5, 1e-6});
  }
  for (const NormOrder& ord : std::vector<NormOrder>{{}, 1, 3, inf, -inf})
    expect_gradient([&](const auto& v) { return linalg::norm(v[0], ord, {Axes{1}}); }, {x});
}

}  // namespace
}  // namespace stoker
