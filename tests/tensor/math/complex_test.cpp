// Complex tensors against std::complex<double>, on every device.
#include "complex_numbers.hpp"

namespace stoker {
namespace {

using ComplexTensors = TensorsOnDevices;

const Numbers numbers{{1, 2}, {-0.5, 0.25}, {0, -1.5}, {-2, -1}, {0.75, 0}, {-0.3, 0.9}};

Tensor stored(const Numbers& of, DType dtype = DType::c64) { return as_type(tensor(of), dtype); }

TEST_P(ComplexTensors, are_written_read_and_taken_apart) {
  const std::vector<std::complex<float>> values{{1, 2}, {3, -4}};
  const Tensor z = tensor(values);
  EXPECT_EQ(z.dtype(), DType::c64);
  EXPECT_EQ(z.bytes(), 16U);
  EXPECT_TRUE(is_complex(z));
  EXPECT_EQ(z.read<std::complex<float>>().get(), values);
  expect_values<float>(real(z), {2}, {1, 3});
  expect_values<float>(imag(z), {2}, {2, -4});
  expect_near(abs(z), {std::sqrt(5.0), 5});  // GPUs round a square root as they like
  expect_near(phase(z), {std::atan2(2, 1), std::atan2(-4, 3)});
  expect_numbers(conjugate(z), {{1, -2}, {3, 4}});
  expect_values<float>(view_as_real(z), {2, 2}, {1, 2, 3, -4});
  expect_numbers(view_as_complex(view_as_real(z)), {{1, 2}, {3, -4}});
  EXPECT_EQ(tensor({C{1, 2}}).dtype(), DType::c64);
  EXPECT_EQ(tensor(numbers).dtype(), DType::c128);
}

TEST_P(ComplexTensors, are_made_of_parts_that_broadcast) {
  const Tensor z = complex(tensor({{1.0}, {2.0}}), tensor({5, 6, 7}));
  EXPECT_EQ(z.spec(), (TensorSpec{DType::c64, Shape{2, 3}}));
  expect_numbers(z, {{1, 5}, {1, 6}, {1, 7}, {2, 5}, {2, 6}, {2, 7}});
  EXPECT_EQ(complex(tensor<double>({1.0}), 2).dtype(), DType::c128);
  expect_numbers(complex(3, 4), {{3, 4}});
  EXPECT_EQ(error_of([&] { return complex(z, 1); }).code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(error_of([&] { return complex(ones({2}), ones({3})); }).code(),
            ErrorCode::shape_mismatch);
}

TEST_P(ComplexTensors, are_added_multiplied_and_divided) {
  const Tensor a = stored(numbers);
  const Tensor b = reverse(a) + C{0.5, 0.25};
  Numbers x = numbers;
  Numbers y(numbers.rbegin(), numbers.rend());
  for (C& one : y) one += C{0.5, 0.25};
  const auto each = [&](auto function) {
    Numbers made;
    for (std::size_t i = 0; i < x.size(); ++i) made.push_back(function(x[i], y[i]));
    return made;
  };
  expect_numbers(a + b, each([](C p, C q) { return p + q; }));
  expect_numbers(a - b, each([](C p, C q) { return p - q; }));
  expect_numbers(a * b, each([](C p, C q) { return p * q; }));
  expect_numbers(a / b, each([](C p, C q) { return p / q; }));
  expect_numbers(-a * 2 + 1.5, each([](C p, C) { return -p * 2.0 + 1.5; }));
  expect_numbers(pow(a, 3), each([](C p, C) { return p * p * p; }), 1e-5);
  expect_numbers(pow(a, -1), each([](C p, C) { return 1.0 / p; }));
  expect_numbers(pow(a, b), each([](C p, C q) { return std::pow(p, q); }), 1e-5);
  expect_numbers(exp(a * b) - a, each([](C p, C q) { return std::exp(p * q) - p; }), 1e-5);
}

TEST_P(ComplexTensors, have_the_principal_values_of_functions) {
  struct Case {
    const char* name;
    Tensor (*function)(const TensorLike&);
    C (*want)(C);
  };
  const Tensor z = stored(numbers);
  for (const Case& one :
       std::vector<Case>{{"exp", &exp, [](C x) { return std::exp(x); }},
                         {"expm1", &expm1, [](C x) { return std::exp(x) - 1.0; }},
                         {"log", &log, [](C x) { return std::log(x); }},
                         {"log1p", &log1p, [](C x) { return std::log(1.0 + x); }},
                         {"sqrt", &sqrt, [](C x) { return std::sqrt(x); }},
                         {"rsqrt", &rsqrt, [](C x) { return 1.0 / std::sqrt(x); }},
                         {"sigmoid", &sigmoid, [](C x) { return 1.0 / (1.0 + std::exp(-x)); }},
                         {"sin", &sin, [](C x) { return std::sin(x); }},
                         {"cos", &cos, [](C x) { return std::cos(x); }},
                         {"tan", &tan, [](C x) { return std::tan(x); }},
                         {"sinh", &sinh, [](C x) { return std::sinh(x); }},
                         {"cosh", &cosh, [](C x) { return std::cosh(x); }},
                         {"tanh", &tanh, [](C x) { return std::tanh(x); }},
                         {"asin", &asin, [](C x) { return std::asin(x); }},
                         {"acos", &acos, [](C x) { return std::acos(x); }},
                         {"atan", &atan, [](C x) { return std::atan(x); }},
                         {"asinh", &asinh, [](C x) { return std::asinh(x); }},
                         {"acosh", &acosh, [](C x) { return std::acosh(x); }},
                         {"atanh", &atanh, [](C x) { return std::atanh(x); }}}) {
    SCOPED_TRACE(one.name);
    Numbers want;
    for (const C x : numbers) want.push_back(one.want(x));
    expect_numbers(one.function(z), want, 1e-5);
  }
}

TEST_P(ComplexTensors, keep_large_and_small_sizes_in_range) {
  expect_near(abs(tensor({C{3e30, 4e30}, C{3e-30, 4e-30}, C{0, 0}})) / tensor({1e30, 1e-30, 1.0}),
              {5, 5, 0}, 1e-6);
  expect_numbers(tensor({C{1e30, 1e30}}) / tensor({C{1e30, 1e30}}), {{1, 0}});
  expect_numbers(tanh(tensor({C{200, 1}})), {{1, 0}});
  expect_numbers(sqrt(tensor({C{0, 0}, C{-4, 0}})), {{0, 0}, {0, 2}});
}

TEST_P(ComplexTensors, have_real_sizes_and_variances) {
  const Tensor z = stored({{3, 4}, {0, 0}});
  for (const linalg::NormOrder& ord : {linalg::NormOrder{}, linalg::NormOrder{2}}) {
    EXPECT_EQ(linalg::norm(z, ord).dtype(), DType::f32);
    expect_near(linalg::norm(z, ord), {5});
  }
  expect_near(linalg::norm(reshape(z, {1, 2}), linalg::MatrixNorm::fro), {5});
  expect_near(variance(stored({{1, 1}, {3, 5}})), {5});
  EXPECT_EQ(variance(z).dtype(), DType::f32);
  expect_numbers(covariance(reshape(stored({{0, 1}, {1, 0}, {0, 3}, {3, 0}}), {2, 2})),
                 {{1, 0}, {0, 1}, {0, -1}, {1, 0}});
}

TEST_P(ComplexTensors, keep_the_names_of_their_axes) {
  const Tensor z = complex(tensor({1.0, 2.0}).named({"x"}), 1.0);
  for (const Tensor& one : {z, z * z, conjugate(z), real(z), imag(z), phase(z), stop_gradient(z)})
    EXPECT_EQ(one.names()[0], "x");
}

TEST_P(ComplexTensors, meet_other_dtypes) {
  const Tensor z = stored({{1, 1}});
  EXPECT_EQ((z + ones({1}, DType::s64)).dtype(), DType::c64);
  EXPECT_EQ((z + ones({1}, DType::f16)).dtype(), DType::c64);
  EXPECT_EQ((z + ones({1}, DType::f64)).dtype(), DType::c128);
  EXPECT_EQ((z + stored({{1, 1}}, DType::c128)).dtype(), DType::c128);
  EXPECT_EQ((z + 1.5).dtype(), DType::c64);
  EXPECT_EQ((ones({1}, DType::s32) + C{0, 1}).dtype(), DType::c64);
  EXPECT_EQ((ones({1}, DType::f64) * C{0, 1}).dtype(), DType::c128);
  expect_numbers(ones({1}, DType::u8) + C{0, 1}, {{1, 1}});
  expect_values<int>(as_type(stored({{2.75, 9}}), DType::s32), {1}, {2});
  expect_numbers(as_type(tensor({1, 2}), DType::c128), {{1, 0}, {2, 0}});
}

TEST_P(ComplexTensors, are_compared_for_equality_only) {
  const Tensor a = stored({{1, 2}, {1, 2}, {3, 0}});
  const Tensor b = stored({{1, 2}, {1, 3}, {3, 0}});
  expect_values<int>(a == b, {3}, {1, 0, 1});
  expect_values<int>(a != b, {3}, {0, 1, 0});
  const Tensor strange =
      complex(tensor<double>({1.0, NAN, 0.0}), tensor<double>({INFINITY, 1.0, 0.0}));
  expect_values<int>(is_nan(strange), {3}, {0, 1, 0});
  expect_values<int>(is_infinity(strange), {3}, {1, 0, 0});
  const Error refused = error_of([&] { return a < b; });
  EXPECT_EQ(refused.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(refused.reason(), "expected a real dtype, got c64[3]");
  for (const auto& call : std::vector<std::function<Tensor()>>{
           [&] { return max(a, b); }, [&] { return sort(a); }, [&] { return argmax(a); },
           [&] { return floor(a); }, [&] { return sign(a); }, [&] { return reduce_max(a); },
           [&] { return a % b; }})
    EXPECT_EQ(code_of(call), ErrorCode::dtype_mismatch) << error_of(call).what();
  EXPECT_EQ(code_of([] {
              return linalg::cholesky(ones({1, 1}, DType::c64));
            }),
            ErrorCode::unsupported);
}

TEST_P(ComplexTensors, are_moved_like_all_others) {
  const Tensor z = reshape(stored(numbers), {2, 3});
  const auto at = [](std::initializer_list<int> places) {
    Numbers made;
    for (const int place : places)
      made.push_back(place < 0 ? C{} : numbers[static_cast<std::size_t>(place)]);
    return made;
  };
  expect_numbers(transpose(z), at({0, 3, 1, 4, 2, 5}));
  expect_numbers(reverse(z, Axes{1}), at({2, 1, 0, 5, 4, 3}));
  expect_numbers(slice_along_axis(z, 1, 2, 1), at({1, 2, 4, 5}));
  expect_numbers(concatenate({z, z}, -1), at({0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  expect_numbers(pad(z, 0, {{}, {.low = 1}}), at({-1, 0, 1, 2, -1, 3, 4, 5}));
  expect_numbers(take(z, tensor({1, 0}), 0), at({3, 4, 5, 0, 1, 2}));
  expect_numbers(take_along_axis(z, tensor({{2, 2, 0}, {1, 1, 1}}), 1), at({2, 2, 0, 4, 4, 4}));
  expect_numbers(broadcast(slice_along_axis(z, 0, 1), {2, 3}), at({0, 1, 2, 0, 1, 2}));
  expect_numbers(select(tensor({1, 0, 1}) == 1, z, 0), at({0, -1, 2, 3, -1, 5}));
  expect_numbers(gather(z, tensor({{1, 1}, {0, 2}})), at({4, 2}));
  const Tensor put = indexed_put(z, tensor({{0, 0}}), tensor({C{7, 8}}));
  Numbers want = numbers;
  want[0] = {7, 8};
  expect_numbers(put, want);
}

TEST_P(ComplexTensors, are_summed_and_multiplied_up) {
  const Tensor z = reshape(stored(numbers), {2, 3});
  Numbers sums(3), products(3);
  for (std::size_t i = 0; i < 3; ++i) {
    sums[i] = numbers[i] + numbers[i + 3];
    products[i] = numbers[i] * numbers[i + 3];
  }
  expect_numbers(sum(z, {Axes{0}}), sums);
  expect_numbers(mean(z, {Axes{0}}) * 2, sums);
  expect_numbers(product(z, {Axes{0}}), products);
  expect_numbers(product(z), {products[0] * products[1] * products[2]});
  expect_numbers(sum(z), {sums[0] + sums[1] + sums[2]});
  EXPECT_EQ(product(z, {Axes{1}, true}).shape(), (Shape{2, 1}));
}

TEST_P(ComplexTensors, are_multiplied_as_matrices) {
  const Tensor z = reshape(stored(numbers), {2, 3});
  Numbers want;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      C one{};
      for (std::size_t t = 0; t < 3; ++t) one += numbers[3 * i + t] * std::conj(numbers[3 * j + t]);
      want.push_back(one);
    }
  expect_numbers(matmul(z, linalg::adjoint(z)), want);
  expect_numbers(matmul(ones({1, 2}), z),
                 {numbers[0] + numbers[3], numbers[1] + numbers[4], numbers[2] + numbers[5]});
}

TEST_P(ComplexTensors, have_gradients_by_both_parts) {
  const Tensor z = stored({{3, 4}, {-1, 0.5}, {0, 0}}, DType::c128);
  // z/|z|, and 0 at 0.
  const Tensor g = grad([](const Tensor& x) { return sum(abs(x)); })(z);
  EXPECT_EQ(g.dtype(), DType::c128);
  expect_numbers(g, {{0.6, 0.8}, C{-1, 0.5} / std::sqrt(1.25), {0, 0}}, 1e-12);
  const auto loss = [](const Tensor& x) {
    const Tensor y = exp(x * C{0.5, -0.25}) / (x * x + C{3, 1}) + sqrt(x + C{5, 2}) - conjugate(x);
    return sum(real(y) * 2 + imag(y) * imag(y));
  };
  expect_complex_differences(loss, {{1, 2}, {-0.5, 0.25}});
}

TEST_P(ComplexTensors, go_through_traced_functions_and_transfers) {
  const auto step = jit([](const Tensor& z) { return z * z + 1; });
  Tensor z = stored({{0.5, 0.5}});
  for (int i = 0; i < 3; ++i) z = step(z);
  C want{0.5, 0.5};
  for (int i = 0; i < 3; ++i) want = want * want + 1.0;
  expect_numbers(z, {want}, 1e-5);
  for (const char* const other : {"cpu", "vulkan"}) {
    const Tensor there = z.to(system.device(other));
    EXPECT_EQ(there.buffer().device(), system.device(other));
    const Tensor back = there.to(current_device());
    EXPECT_EQ(back.spec(), z.spec());
    EXPECT_EQ(back.to_bytes(), z.to_bytes());
  }
  EXPECT_EQ(zeros({2}, DType::c64).to_vector<std::complex<float>>().size(), 2U);
  expect_numbers(full({2}, C{1, -1}), {{1, -1}, {1, -1}});
  expect_numbers(iota({3}, DType::c64), {0, 1, 2});
  EXPECT_EQ(zeros({0, 3}, DType::c64).to_vector<C>().size(), 0U);
  expect_numbers(sum(abs(zeros({0}, DType::c64))), {0});
}

TEST_P(ComplexTensors, go_through_loops_and_branches) {
  const auto loss = [](const Tensor& x) {
    const Tensor y = cond(
        any(abs(x) > 1),
        [&] {
          return x * C{0, 1};
        },
        [&] { return x; });
    const Tensor z = while_loop(
        y, [](const Tensor& v) { return sum(abs(v)) < 100; },
        [](const Tensor& v) { return v * v; });
    return sum(real(z));
  };
  C want = C{1, 2} * C{0, 1};
  while (std::abs(want) < 100) want *= want;
  EXPECT_NEAR(loss(stored({{1, 2}})).item<double>(), want.real(), 1e-2);
  const Tensor g = grad([](const Tensor& x) {
    return sum(real(cond(
        any(abs(x) > 1), [&] { return x * x; }, [&] { return x; })));
  })(stored({{1, 2}}));
  expect_numbers(g, {{2, -4}});  // the conjugate of 2z
}

TEST_P(ComplexTensors, share_results_with_their_parts) {
  const Tensor z = stored(numbers) * C{0, 1};
  const Tensor size = abs(z);
  const Tensor pairs = view_as_real(z);
  eval({z, size, pairs});
  Numbers want;
  for (const C one : numbers) want.push_back(one * C{0, 1});
  expect_numbers(z, want);
  EXPECT_EQ(pairs.to_vector<float>()[0], -2);
  EXPECT_NEAR(size.to_vector<float>()[0], std::sqrt(5.0), 1e-6);
}

TEST_P(ComplexTensors, print_both_parts) {
  EXPECT_EQ(to_string(tensor({C{1, 2}, C{-0.5, -1}})), "c64[2] [   1+2i, -0.5-1i]");
}

TEST_P(ComplexTensors, are_drawn_with_the_deviation_asked_for) {
  const Tensor drawn = random::normal(random::key(3), {4096}, 1, 2, DType::c64).values;
  expect_near(mean(real(drawn)), {1}, 0.1);
  expect_near(mean(imag(drawn)), {0}, 0.1);
  expect_near(mean(pow(abs(drawn - 1), 2)), {4}, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Devices, ComplexTensors, every_device(), device_name);

}  // namespace
}  // namespace stoker
