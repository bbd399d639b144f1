// Initializers: what they promise of many numbers, and that a key is all they depend on.
#include <algorithm>

#include "stoker/api/nn/graph/initializer.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;
  double largest = 0;
};

Moments moments(const Tensor& x) {
  Moments made;
  const auto values = x.to_vector<double>();
  for (const double value : values) {
    made.mean += value / static_cast<double>(values.size());
    made.largest = std::max(made.largest, std::abs(value));
  }
  for (const double value : values)
    made.deviation +=
        (value - made.mean) * (value - made.mean) / static_cast<double>(values.size());
  made.deviation = std::sqrt(made.deviation);
  return made;
}

class Initializers : public TensorsOnDevices {
 protected:
  static Tensor make(const char* text, const Shape& shape, DType dtype = DType::f32,
                     std::uint64_t seed = 3) {
    return initializer(text)(random::key(seed), shape, dtype);
  }
};

TEST_P(Initializers, count_what_goes_in_and_out) {
  EXPECT_EQ(fans(Shape{3, 5}).in, 3);
  EXPECT_EQ(fans(Shape{3, 5}).out, 5);
  EXPECT_EQ(fans(Shape{2, 4, 3, 5}).in, 24) << "each place of a kernel in space";
  EXPECT_EQ(fans(Shape{2, 4, 3, 5}).out, 40);
  EXPECT_EQ(fans(Shape{7}).in, 7);
  EXPECT_EQ(fans(Shape{}).out, 1);
}

TEST_P(Initializers, fill_with_what_they_say) {
  expect_values<float>(make("zeros", {2}), {2}, {0, 0});
  expect_values<float>(make("ones", {2}), {2}, {1, 1});
  expect_values<float>(make("full(value=2.5)", {2}), {2}, {2.5, 2.5});
  expect_values<float>(make("identity", {2, 2}), {2, 2}, {1, 0, 0, 1});
}

TEST_P(Initializers, have_the_variance_that_keeps_signals_alive) {
  const Shape shape{100, 300};
  const struct {
    const char* text;
    double variance;
    bool uniform;
  } cases[] = {{"lecun_uniform", 1.0 / 100, true},
               {"lecun_normal", 1.0 / 100, false},
               {"glorot_uniform", 1.0 / 200, true},
               {"glorot_normal", 1.0 / 200, false},
               {"he_uniform", 2.0 / 100, true},
               {"he_normal", 2.0 / 100, false},
               {"variance_scaling(scale=3, mode=fan_out)", 3.0 / 300, false},
               {"uniform(scale=0.3)", 0.03, true},
               {"normal(scale=0.3)", 0.09, false}};
  for (const auto& one : cases) {
    const Moments got = moments(make(one.text, shape));
    const double deviation = std::sqrt(one.variance);
    EXPECT_NEAR(got.mean, 0, 5 * deviation / std::sqrt(30000.0)) << one.text;
    EXPECT_NEAR(got.deviation, deviation, 0.02 * deviation) << one.text;
    if (one.uniform) {
      EXPECT_LE(got.largest, deviation * std::sqrt(3.0) * 1.000001) << one.text;
    }
  }
  const double edge = 2 * std::sqrt(1.0 / 100) / 0.87962566103423978;
  EXPECT_LE(moments(make("lecun_normal", shape)).largest, edge * 1.000001) << "truncated";
  EXPECT_GT(moments(make("variance_scaling(scale=1)", shape)).largest, edge) << "not truncated";
  EXPECT_NEAR(moments(make("normal(mean=2, scale=0.1)", shape)).mean, 2, 0.005);
}

TEST_P(Initializers, at_right_angles_are_so) {
  for (const Shape& shape : {Shape{6, 4}, Shape{4, 6}, Shape{2, 3, 4}}) {
    const Tensor x = reshape(make("orthogonal", shape, DType::f64), {-1, shape[shape.rank() - 1]});
    const bool tall = x.shape()[0] >= x.shape()[1];
    const Tensor gram = tall ? matmul(transpose(x), x) : matmul(x, transpose(x));
    expect_near(gram, eye(gram.shape(), DType::f64).to_vector<double>(), 1e-10);
  }
}

TEST_P(Initializers, depend_on_the_key_alone) {
  for (const char* const text : {"glorot_uniform", "he_normal", "normal", "orthogonal"}) {
    EXPECT_EQ(make(text, {4, 5}).to_vector<float>(), make(text, {4, 5}).to_vector<float>());
    EXPECT_NE(make(text, {4, 5}).to_vector<float>(),
              make(text, {4, 5}, DType::f32, 4).to_vector<float>());
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64})
      EXPECT_EQ(make(text, {4, 5}, dtype).dtype(), dtype) << text;
  }
}

TEST_P(Initializers, refuse_shapes_and_names_that_do_not_fit) {
  EXPECT_EQ(code_of([] { return make("identity", {2, 3}); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] { return make("orthogonal", {3}); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] { return make("glorot", {3}); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { return make("full", {3}); }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return make("normal(scale=-1)", {3}); }), ErrorCode::invalid_parameter);
}

INSTANTIATE_TEST_SUITE_P(Devices, Initializers, every_device(), device_name);

}  // namespace
}  // namespace stoker::nn
