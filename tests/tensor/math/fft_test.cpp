// Fourier transforms against sums in double precision, on every device.
#include <algorithm>
#include <numbers>

#include "complex_numbers.hpp"

namespace stoker {
namespace {

using FourierTransforms = TensorsOnDevices;

/// Numbers without a pattern.
Numbers signal(std::size_t n) {
  Numbers made;
  for (std::size_t j = 0; j < n; ++j) {
    const auto x = static_cast<double>(j);
    made.emplace_back(std::sin(1.7 * x * x + 0.3), std::cos(2.3 * x + 0.1 * x * x));
  }
  return made;
}

/// The definition: n² products.
Numbers transform(const Numbers& x, double sign = -1) {
  const std::size_t n = x.size();
  Numbers made(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j)
      made[k] +=
          x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                     static_cast<double>(n));
  return made;
}

/// Held to the root mean square of what is wanted: a transform's errors spread over all elements.
void expect_close(const Tensor& got, const Numbers& want, double tolerance) {
  const auto values = got.to_vector<C>();
  ASSERT_EQ(values.size(), want.size());
  double square = 0;
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    square += std::norm(want[i]);
    const double error = std::abs(values[i] - want[i]);
    ASSERT_TRUE(std::isfinite(error)) << "element " << i << ": " << values[i];
    worst = std::max(worst, error);
  }
  EXPECT_LE(worst, tolerance * std::sqrt(square / static_cast<double>(want.size())));
}

TEST_P(FourierTransforms, are_exact_for_any_length) {
  // Powers, mixed radices, primes with passes of their own, primes without, and long ones.
  for (const std::size_t n :
       {1,  2,  3,   4,   5,   6,   7,   8,   11,  13,  16,   17,   30,   31,   60,  64,
        77, 97, 101, 128, 210, 243, 256, 338, 500, 509, 1000, 1009, 1024, 1155, 2048}) {
    SCOPED_TRACE(n);
    const Numbers x = signal(n);
    const Numbers want = transform(x);
    expect_close(fft(as_type(tensor(x), DType::c64), {.eps = 0}), want, 2e-6);
    expect_close(fft(tensor(x), {.eps = 0}), want, 1e-13);
    expect_close(ifft(tensor(want), {.eps = 0}), x, 1e-13);
  }
}

TEST_P(FourierTransforms, of_long_rows_come_back) {
  for (const std::int64_t n : {16384, 20000, 30030, 65536}) {
    SCOPED_TRACE(n);
    const Numbers x = signal(static_cast<std::size_t>(n));
    const Tensor z = as_type(tensor(x), DType::c64);
    const Tensor spectrum = fft(z, {.eps = 0});
    expect_close(ifft(spectrum, {.eps = 0}), x, 2e-6);
    // Two elements by their sums.
    for (const std::int64_t k : {std::int64_t{1}, n / 3}) {
      C want{};
      for (std::int64_t j = 0; j < n; ++j)
        want += x[static_cast<std::size_t>(j)] *
                std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                    static_cast<double>(n));
      const C got = slice_along_axis(spectrum, k, 1).item<C>();
      EXPECT_LE(std::abs(got - want), 3e-6 * std::sqrt(static_cast<double>(n)));
    }
  }
}

TEST_P(FourierTransforms, go_along_any_axis_of_many_rows) {
  const Numbers all = signal(20 * 6 * 3);
  const Tensor x = reshape(tensor(all), {20, 6, 3});
  const Tensor got = fft(x, {.axis = 1, .eps = 0});
  Numbers want(all.size());
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      Numbers row;
      for (std::size_t j = 0; j < 6; ++j) row.push_back(all[(i * 6 + j) * 3 + k]);
      const Numbers made = transform(row);
      for (std::size_t j = 0; j < 6; ++j) want[(i * 6 + j) * 3 + k] = made[j];
    }
  EXPECT_EQ(got.spec(), x.spec());
  expect_close(got, want, 1e-13);
}

TEST_P(FourierTransforms, pad_and_cut_to_a_length) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_EQ(fft(x).spec(), (TensorSpec{DType::c64, Shape{3}}));
  EXPECT_EQ(fft(tensor<double>({1, 2})).dtype(), DType::c128);
  expect_close(fft(x, {.length = 4}), transform({1, 2, 3, 0}), 1e-6);
  expect_close(fft(x, {.length = 2}), transform({1, 2}), 1e-6);
  expect_close(fft(x, {.length = power_of_two}), transform({1, 2, 3, 0}), 1e-6);
  EXPECT_EQ(error_of([&] { return fft(x, {.length = 0}); }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { return fft(x, {.axis = 1}); }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { return fft(tensor(1.0)); }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(fft(zeros({0, 4})).shape(), (Shape{0, 4}));
  EXPECT_EQ(fft(zeros({0, 4})).to_vector<C>().size(), 0U);
}

TEST_P(FourierTransforms, make_tiny_parts_zero) {
  const Tensor x = tensor<double>({1, 0, -1, 0});
  expect_values<double>(imag(fft(x)), {4}, {0, 0, 0, 0});
  expect_values<double>(real(fft(x, {.eps = 3})), {4}, {0, 0, 0, 0});
}

TEST_P(FourierTransforms, of_real_signals_are_half_as_long) {
  for (const std::size_t n : {1, 2, 7, 8, 30}) {
    SCOPED_TRACE(n);
    Numbers x = signal(n);
    std::vector<double> reals;
    for (C& one : x) reals.push_back((one = one.real()).real());
    Numbers want = transform(x);
    want.resize(n / 2 + 1);
    const Tensor half = rfft(tensor(reals), {.eps = 0});
    expect_close(half, want, 1e-13);
    const Tensor back = irfft(half, {.length = static_cast<std::int64_t>(n), .eps = 0});
    EXPECT_EQ(back.dtype(), DType::f64);
    expect_close(back, x, 1e-13);
  }
  EXPECT_EQ(irfft(ones({5}, DType::c64)).shape(), Shape{8});
  EXPECT_EQ(error_of([] { return rfft(ones({5}, DType::c64)); }).code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(error_of([] { return irfft(ones({1}, DType::c64)); }).code(),
            ErrorCode::invalid_parameter);
}

TEST_P(FourierTransforms, of_planes_go_along_two_axes) {
  const Tensor x = reshape(tensor(signal(12)), {3, 4});
  const Tensor want = fft(fft(x, {.eps = 0}), {.axis = 0, .eps = 0});
  expect_close(fft2(x), want.to_vector<C>(), 1e-13);
  expect_close(ifft2(fft2(x, {.eps = 0}), {.eps = 0}), signal(12), 1e-13);
  EXPECT_EQ(fft2(x, {.lengths = {5, power_of_two}}).shape(), (Shape{5, 4}));
  EXPECT_EQ(error_of([&] {
              return fft2(x, {.axes = {1, -1}});
            }).code(),
            ErrorCode::invalid_parameter);
}

TEST_P(FourierTransforms, have_exact_gradients) {
  const auto loss = [](const Tensor& x) {
    const Tensor w = complex(cos(iota({6}, DType::f64)), sin(iota({6}, DType::f64) * 2.0));
    const Tensor both = fft(x, {.length = 6}) * w + ifft(x, {.length = 6});
    return sum(real(both)) + 2 * sum(imag(both)) +
           sum(irfft(x, {.length = 9}) * iota({9}, DType::f64)) + sum(pow(abs(rfft(imag(x))), 2));
  };
  expect_complex_differences(loss, signal(5));
}

INSTANTIATE_TEST_SUITE_P(Devices, FourierTransforms, every_device(), device_name);

}  // namespace
}  // namespace stoker
