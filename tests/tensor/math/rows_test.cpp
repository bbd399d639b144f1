// The smaller functions: diagonals, statistics, borders, parts, folds, constants, pictures.
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using Rows = TensorsOnDevices;

TEST_P(Rows, diagonals_are_made_taken_and_put) {
  expect_values<int>(make_diagonal(tensor({1, 2})), {2, 2}, {1, 0, 0, 2});
  expect_values<int>(make_diagonal(tensor({1, 2}), 1), {3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0});
  expect_values<int>(make_diagonal(tensor({1, 2}), -1), {3, 3}, {0, 0, 0, 1, 0, 0, 0, 2, 0});
  const Tensor m = reshape(iota({6}), {2, 3});
  expect_values<int>(take_diagonal(m), {2}, {0, 4});
  expect_values<int>(take_diagonal(m, 2), {1}, {2});
  expect_values<int>(take_diagonal(m, -1), {1}, {3});
  expect_values<int>(take_diagonal(reshape(iota({12}), {2, 2, 3}), 1), {2, 2}, {1, 5, 7, 11});
  expect_values<int>(put_diagonal(m, tensor({8, 9}), 1), {2, 3}, {0, 8, 2, 3, 4, 9});
  expect_values<int>(put_diagonal(zeros({2, 2, 2}, DType::s32), tensor({{1, 2}, {3, 4}})),
                     {2, 2, 2}, {1, 0, 0, 2, 3, 0, 0, 4});
  EXPECT_EQ(take_diagonal(zeros({0, 3})).shape(), (Shape{0}));
  EXPECT_EQ(error_of([&] { return take_diagonal(m, 3); }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { return put_diagonal(m, tensor({1})); }).code(),
            ErrorCode::shape_mismatch);
}

TEST_P(Rows, weighted_means_divide_by_the_weights) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 6.0}});
  EXPECT_EQ(weighted_mean(x, tensor({{1, 1}, {0, 2}})).item<float>(), 3.75F);
  expect_near(weighted_mean(x, tensor({1, 3}), {Axes{1}}), {1.75, 5.25});
  expect_near(weighted_mean(x, tensor({1, 3}), {Axes{0}}), {2.5, 5});
  EXPECT_TRUE(std::isnan(weighted_mean(tensor({1.0, 2.0}), tensor({0, 0})).item<float>()));
  EXPECT_EQ(error_of([&] {
              return weighted_mean(x, tensor({1, 2, 3}), {Axes{1}});
            }).code(),
            ErrorCode::shape_mismatch);
}

TEST_P(Rows, modes_are_the_most_frequent_and_then_the_smallest) {
  EXPECT_EQ(mode(tensor({{3, 1, 3}, {1, 2, 5}})).item<int>(), 1);
  expect_values<int>(mode(tensor({{4, 4, 2}, {1, 7, 7}}), 1), {2}, {4, 7});
  expect_values<int>(mode(tensor({{0, 4}, {0, 2}, {5, 2}}), 0, true), {1, 2}, {0, 2});
  EXPECT_EQ(mode(tensor({5})).item<int>(), 5);
}

TEST_P(Rows, covariances_are_around_means) {
  const Tensor x = tensor<double>({{1.0, 2.0}, {3.0, 4.0}, {5.0, 12.0}});
  expect_near(covariance(x), {8.0 / 3, 20.0 / 3, 20.0 / 3, 56.0 / 3}, 1e-12);
  expect_near(covariance(x, 1), {4, 10, 10, 28}, 1e-12);
  expect_near(covariance(x, tensor<double>({0.0, 0.0})), {35.0 / 3, 74.0 / 3, 74.0 / 3, 164.0 / 3},
              1e-12);
  EXPECT_EQ(covariance(ones({4, 3, 2})).shape(), (Shape{4, 2, 2}));
}

TEST_P(Rows, logarithms_of_sums_take_scales) {
  const Tensor x = tensor<double>({1000.0, 1001.0});
  expect_near(logsumexp(x, tensor<double>({2.0, 3.0}), {}),
              {1000 + std::log(2 + 3 * std::exp(1.0))}, 1e-12);
}

TEST_P(Rows, borders_are_filled_or_mirrored) {
  expect_values<int>(pad_outer(tensor({1, 2}), 9, {{1, 2}}), {5}, {9, 1, 2, 9, 9});
  expect_values<int>(reflect(tensor({1, 2, 3}), {{1, 3}}), {7}, {2, 1, 2, 3, 2, 1, 2});
  expect_values<int>(reflect(tensor({1, 2}), {{3, 0}}), {5}, {2, 1, 2, 1, 2});
  expect_values<int>(reflect(tensor({7}), {{1, 1}}), {3}, {7, 7, 7});
  expect_values<int>(reflect(tensor({{1, 2}, {3, 4}}), {{0, 1}, {1, 0}}), {3, 3},
                     {2, 1, 2, 4, 3, 4, 2, 1, 2});
  EXPECT_EQ(error_of([] {
              return reflect(ones({2}), {{-1, 0}});
            }).code(),
            ErrorCode::invalid_parameter);
}

TEST_P(Rows, parts_are_taken_by_position) {
  const Tensor x = reshape(iota({12}), {3, 4});
  expect_values<int>(x[0], {4}, {0, 1, 2, 3});
  expect_values<int>(x[-1], {4}, {8, 9, 10, 11});
  EXPECT_EQ((x[{1, -1}].item<int>()), 7);
  expect_values<int>(x[{every, Range{1, 3}}], {3, 2}, {1, 2, 5, 6, 9, 10});
  expect_values<int>(x[{Range{.start = -2}, 0}], {2}, {4, 8});
  expect_values<int>(x[{0, Range{.step = 3}}], {2}, {0, 3});
  EXPECT_EQ(x[Range(1, 1)].shape(), (Shape{0, 4}));
  const Tensor i = tensor(1);
  expect_values<int>(x[{every, i}], {3}, {1, 5, 9});
  expect_values<int>(x[{i, Range{1, 3}}], {2}, {5, 6});
  EXPECT_EQ((x[{tensor(9), tensor(-1)}].item<int>()), 11) << "the nearest that is there";
  EXPECT_EQ(error_of([&] { return x[3]; }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { return x[Range(2, 9)]; }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { return x[{0, 0, 0}]; }).code(), ErrorCode::invalid_parameter);
  expect_near(
      grad([](const Tensor& v) { return sum(v[Range(1, 3)] * 2); })(tensor({1.0, 1.0, 1.0})),
      {0, 2, 2});
}

TEST_P(Rows, any_associative_function_reduces) {
  const Tensor x = reshape(iota({12}), {3, 4});
  const auto plus = [](const Tensor& a, const Tensor& b) { return a + b; };
  EXPECT_EQ(reduce(x, 0, plus).item<int>(), 66);
  expect_values<int>(reduce(x, 100, plus, {Axes{0}}), {4}, {112, 115, 118, 121});
  expect_values<int>(reduce(x, 0, plus, {Axes{1}, true}), {3, 1}, {6, 22, 38});
  EXPECT_EQ(reduce(zeros({0}), 3, plus).item<float>(), 3);
  // Associative and not commutative: the last that is not 0.
  const auto last = [](const Tensor& a, const Tensor& b) { return select(b != 0, b, a); };
  EXPECT_EQ(reduce(tensor({4, 5, 0, 6, 7, 0, 0}), 1, last).item<int>(), 7);
  expect_near(grad([&](const Tensor& v) {
                return reduce(v, 1.0, [](const Tensor& a, const Tensor& b) { return a * b; });
              })(tensor({2.0, 3.0, 5.0})),
              {15, 10, 6});
  EXPECT_EQ(error_of([&] {
              return reduce(x, 0, [](const Tensor& a, const Tensor&) { return sum(a); });
            }).code(),
            ErrorCode::shape_mismatch);
}

TEST_P(Rows, any_associative_function_reduces_windows) {
  const auto plus = [](const Tensor& a, const Tensor& b) { return a + b; };
  const Tensor x = reshape(iota({12}), {3, 4});
  const Window window{.dimensions = {2, 2}, .strides = Axes{1, 2}, .padding = PadRule::same};
  const Tensor want = window_sum(x, window);
  expect_values<int>(window_reduce(x, 0, window, plus), want.shape(), want.to_vector<int>());
  const Window wide{.dimensions = {2}, .dilations = Axes{2}};
  expect_values<int>(window_reduce(tensor({1, 5, 3, 2}), -9, wide,
                                   [](const Tensor& a, const Tensor& b) { return max(a, b); }),
                     {2}, {3, 5});
  EXPECT_EQ(error_of([&] {
              return window_reduce(x, 0, {.dimensions = {4, 1}}, plus);
            }).code(),
            ErrorCode::invalid_parameter);
}

TEST_P(Rows, constants_are_those_of_their_dtype) {
  EXPECT_TRUE(std::isnan(constants::nan().item<float>()));
  EXPECT_EQ(constants::max_finite().item<float>(), std::numeric_limits<float>::max());
  EXPECT_EQ(constants::min_finite(DType::f64).item<double>(),
            std::numeric_limits<double>::lowest());
  EXPECT_EQ(constants::max_finite(DType::f16).item<float>(), 65504);
  EXPECT_EQ(constants::epsilon(DType::bf16).item<float>(), 0x1p-7F);
  EXPECT_EQ(constants::epsilon(DType::f64).item<double>(), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(constants::smallest_positive_normal(DType::f16).item<float>(), 0x1p-14F);
  EXPECT_EQ(constants::max(DType::u64).item<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(constants::min(DType::s8).item<int>(), -128);
  EXPECT_EQ(constants::max().item<float>(), std::numeric_limits<float>::infinity());
  EXPECT_NEAR(constants::euler_gamma(DType::f64).item<double>(), 0.5772156649015329, 1e-16);
  EXPECT_EQ(error_of([] { return constants::pi(DType::s32); }).code(),
            ErrorCode::invalid_parameter);
}

TEST_P(Rows, matrices_have_pictures) {
  EXPECT_EQ(to_heatmap(tensor({{0, 1}, {2, 4}})), "  ░░\n▒▒██\n");
  EXPECT_EQ(to_heatmap(tensor({double{NAN}, 1.0})), "??  \n");
  EXPECT_EQ(to_heatmap(tensor({{{0}}, {{1}}})), "  \n\n██\n");
  EXPECT_EQ(to_heatmap(tensor({0, 1}), {.ansi = true}),
            "\x1b[48;5;232m  \x1b[0m\x1b[48;5;255m  \x1b[0m\n");
  EXPECT_EQ(to_heatmap(zeros({0, 2})), "");
}

TEST_P(Rows, shapes_are_known_without_values) {
  const Tensor x = placeholder({DType::f64, {2, 3}});
  EXPECT_EQ(axis_size(x, -1), 3);
  EXPECT_EQ(axes_of(x), (Axes{0, 1}));
  EXPECT_EQ(bit_size(x), 384U);
  EXPECT_TRUE(compatible(x, zeros({2, 3}, DType::f64)));
  EXPECT_FALSE(compatible(x, zeros({2, 3})));
  EXPECT_EQ(matmul(x, transpose(x)).shape(), (Shape{2, 2}));
  EXPECT_EQ(error_of([&] { return (x + 1).to_vector<double>(); }).code(),
            ErrorCode::invalid_argument);
}

TEST_P(Rows, tensors_are_cut_into_pieces) {
  const auto [most, rest] = split_at(iota({5}), 0.5);
  EXPECT_EQ(most.shape(), (Shape{3}));
  EXPECT_EQ(rest.shape(), (Shape{2}));
  EXPECT_EQ(flatten(zeros({2, 3, 4}), {1, 2}).shape(), (Shape{2, 12}));
  EXPECT_EQ(error_of([] {
              return flatten(zeros({2, 3, 4}), {0, 2});
            }).code(),
            ErrorCode::invalid_parameter);
}

TEST_P(Rows, norms_are_of_axes) {
  const Tensor x = tensor<double>({{3.0, -4.0}, {6.0, 8.0}});
  expect_near(linalg::norm(x, {}, {Axes{1}}), {5, 10});
  expect_near(linalg::norm(x, 1, {Axes{0}, true}), {9, 12});
  expect_near(linalg::norm(x, 3, {Axes{1}}), {std::cbrt(91.0), std::cbrt(728.0)}, 1e-12);
  expect_near(linalg::norm(x, linalg::inf), {14});
  const Tensor both = stack({x, x * 2});
  expect_near(linalg::norm(both, linalg::MatrixNorm::fro, {Axes{1, 2}}),
              {std::sqrt(125.0), std::sqrt(500.0)});
  EXPECT_EQ(linalg::norm(both, linalg::MatrixNorm::nuc, {Axes{1, 2}, true}).shape(),
            (Shape{2, 1, 1}));
}

TEST_P(Rows, norms_that_there_are_not_are_refused_with_those_that_there_are) {
  using linalg::MatrixNorm;
  const Tensor x = tensor<double>({{3.0, -4.0}, {6.0, 8.0}});
  const auto reason = [](const Tensor& of, const linalg::NormOrder& ord, const Reduce& over) {
    const Error error = error_of([&] { return linalg::norm(of, ord, over); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
    return std::string{error.reason()};
  };
  EXPECT_EQ(reason(x, MatrixNorm::fro, {Axes{1}}),
            "expected an order over 1 axes of f64[2,2]: a number; got fro");
  EXPECT_EQ(reason(x, std::nan(""), {Axes{1}}),
            "expected an order over 1 axes of f64[2,2]: a number; got nan");
  EXPECT_EQ(reason(x, 3, {}),
            "expected an order over 2 axes of f64[2,2]: one of 1, -1, 2, -2, inf, -inf, fro, nuc; "
            "got 3");
  EXPECT_EQ(reason(stack({x, x}), 1, {}),
            "expected an order over 3 axes of f64[2,2,2]: none; got 1");
}

TEST_P(Rows, normal_vectors_vary_as_they_are_told) {
  const Tensor key = random::key(11);
  const Tensor mean = tensor<double>({1.0, -2.0});
  const Tensor wanted = tensor<double>({{2.0, 0.6}, {0.6, 0.5}});
  for (const random::Root root : {random::Root::cholesky, random::Root::eigh, random::Root::svd}) {
    const Tensor drawn =
        random::multivariate_normal(key, mean, wanted,
                                    {.shape = Shape{20000}, .root = root, .dtype = DType::f64})
            .values;
    EXPECT_EQ(drawn.shape(), (Shape{20000, 2}));
    expect_near(stoker::mean(drawn, {Axes{0}}), {1, -2}, 0.05);
    expect_near(covariance(drawn), wanted.to_vector<double>(), 0.06);
  }
  const Tensor singular = ones({2, 2});
  const Tensor equal_ones =
      random::multivariate_normal(key, zeros({2}), singular,
                                  {.shape = Shape{3}, .root = random::Root::eigh})
          .values;
  expect_near(equal_ones[{every, 0}], equal_ones[{every, 1}].to_vector<double>(), 1e-5);
  EXPECT_EQ(random::multivariate_normal(key, zeros({4, 2}), eye(2, DType::f32)).values.shape(),
            (Shape{4, 2}));
  EXPECT_EQ(error_of([&] {
              return random::multivariate_normal(key, zeros({3}), singular).values;
            }).code(),
            ErrorCode::shape_mismatch);
}

TEST_P(Rows, keys_that_are_split_already_give_the_same_numbers) {
  const Tensor key = random::key(5);
  const Tensor own = random::split(key)[1];
  EXPECT_EQ(random::normal_split(own, {4}).to_vector<float>(),
            random::normal(key, {4}).values.to_vector<float>());
  EXPECT_EQ(random::uniform_split(own, {4}).to_vector<float>(),
            random::uniform(key, {4}).values.to_vector<float>());
  const Tensor mixed = random::shuffle(key, broadcast(iota({20}), {3, 20}), 1, true).values;
  expect_values<int>(sort(mixed, 1)[2], {20}, iota({20}).to_vector<int>());
  EXPECT_NE(mixed[0].to_vector<int>(), mixed[1].to_vector<int>());
}

INSTANTIATE_TEST_SUITE_P(Devices, Rows, every_device(), device_name);

}  // namespace
}  // namespace stoker
