// Kernels of the program's own inside of lazy programs.
#include "stoker/api/kernel.hpp"
#include "stoker/api/kernel_spec.hpp"
#include "stoker/kernels/softmax/options.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

/// y = a·x², whose slope is 2·a·x.
KernelSpec square() {
  return {.name = "scaled_square",
          .inputs = {{"x"}},
          .params = {{"a", ParamType::real, 1.0, "factor"}},
          .glsl = "void main() { uint i = stoker_index(); if (i < n) y(i) = a * x(i) * x(i); }",
          .cpu =
              [](const CppCall& call, std::size_t begin, std::size_t end) {
                const auto a = static_cast<float>(call.params().real("a"));
                for (std::size_t i = begin; i < end; ++i)
                  call.out<float>()[i] = a * call.in<float>()[i] * call.in<float>()[i];
              },
          .gradient =
              [](const KernelBackward& b) {
                return std::vector{b.g() * b.x() * (2 * b.params.real("a"))};
              }};
}

/// The sum of each row of [rows, columns]; another kind of shape rule, and no gradient.
KernelSpec row_sums() {
  return {.name = "own_row_sums",
          .inputs = {{"x"}},
          .params = {},
          .shapes = [](const KernelCall& call) -> Result<std::vector<Shape>> {
            if (call.shape().rank() != 2)
              return Error{"own_row_sums", ErrorCode::shape_mismatch, "no matrix"};
            return std::vector<Shape>{Shape{call.shape()[0]}};
          },
          .cpu =
              [](const CppCall& call, std::size_t begin, std::size_t end) {
                const auto columns = static_cast<std::size_t>(call.inputs()[0].shape[1]);
                for (std::size_t i = begin; i < end; ++i) {
                  float sum = 0;
                  for (std::size_t k = 0; k < columns; ++k)
                    sum += call.in<float>()[i * columns + k];
                  call.out<float>()[i] = sum;
                }
              }};
}

class KernelCalls : public TensorsOnDevices {
 protected:
  const UserKernel kernel = system.add_kernel(square());
};

TEST_P(KernelCalls, stand_among_other_operations) {
  const Tensor x = tensor({1.0F, 2.0F, 3.0F});
  const Tensor y = call(kernel, {x + 1}, {{"a", 2.0}});
  EXPECT_FALSE(y.evaluated());
  expect_values<float>(y - 1, Shape{3}, {7, 17, 31});
  expect_values<float>(call(kernel, {call(kernel, {x})}), Shape{3}, {1, 16, 81});
}

/// The options of square().
struct ScaledSquare {
  static constexpr KernelName kind{"scaled_square"};
  double a = 1;
};
template <class V> void visit_options(ScaledSquare& o, V&& visit) {
  visit("a", o.a, anything, "factor");
}

TEST_P(KernelCalls, take_a_struct_of_options) {
  const Tensor x = tensor({1.0F, 2.0F, 3.0F});
  expect_values<float>(call(kernel, {x}, ScaledSquare{.a = 2}), Shape{3}, {2, 8, 18});
  expect_values<float>(call_all(kernel, std::vector{x}, ScaledSquare{})[0], Shape{3}, {1, 4, 9});
}

TEST_P(KernelCalls, refuse_the_options_of_another_kernel) {
  const Tensor x = tensor({1.0F});
  try {
    static_cast<void>(call(kernel, {x}, kernels::Softmax{}));
    FAIL() << "no Error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
    EXPECT_EQ(error.detail("got"), "softmax");
  }
}

TEST_P(KernelCalls, are_traced_by_jit) {
  int traces = 0;
  auto f = jit([&](const Tensor& x, const Tensor& w) {
    ++traces;
    return sum(call(kernel, {x * w}, {{"a", 3.0}}));
  });
  EXPECT_EQ(f(tensor({1.0F, 2.0F}), tensor({1.0F, 1.0F})).item<float>(), 15);
  EXPECT_EQ(f(tensor({1.0F, 2.0F}), tensor({2.0F, 0.0F})).item<float>(), 12);
  EXPECT_EQ(traces, 1);
}

TEST_P(KernelCalls, have_the_gradient_of_their_rule) {
  const auto loss = [&](const Tensor& x) { return sum(exp(call(kernel, {x}, {{"a", 0.5}}))); };
  const Tensor x = tensor({0.5F, -1.0F});
  // d exp(x²/2) = x·exp(x²/2)
  expect_near(grad(loss)(x), {0.5 * std::exp(0.125), -std::exp(0.5)});
  expect_near(jit(grad(loss))(x), {0.5 * std::exp(0.125), -std::exp(0.5)});
  // d² = (1 + x²)·exp(x²/2)
  const auto slope = [&](const Tensor& v) { return sum(grad(loss)(v)); };
  expect_near(grad(slope)(x), {1.25 * std::exp(0.125), 2 * std::exp(0.5)}, 1e-5);
}

TEST_P(KernelCalls, a_rule_of_the_call_counts_more) {
  const auto loss = [&](const Tensor& x) {
    return sum(call(kernel, {x}, {},
                    {.gradient = [](const KernelBackward& b) { return std::vector{b.g() * 7}; }}));
  };
  expect_values<float>(grad(loss)(tensor({1.0F, 2.0F})), Shape{2}, {7, 7});
}

TEST_P(KernelCalls, run_once_for_each_element_under_vmap) {
  const UserKernel sums = system.add_kernel(row_sums());
  const Tensor x = reshape(iota(Shape{12}, DType::f32), {2, 3, 2});
  const auto one = [&](const Tensor& matrix) { return call(sums, {matrix}); };
  expect_values<float>(vmap(one)(x), Shape{2, 3}, {1, 5, 9, 13, 17, 21});
  const auto slopes = vmap(grad([&](const Tensor& row) { return sum(call(kernel, {row})); }));
  expect_values<float>(slopes(tensor({{1.0F, 2.0F}, {3.0F, 4.0F}})), Shape{2, 2}, {2, 4, 6, 8});
  expect_values<float>(jit(vmap(one))(x), Shape{2, 3}, {1, 5, 9, 13, 17, 21});
}

TEST_P(KernelCalls, give_several_results) {
  KernelSpec both;
  both.name = "double_and_negate";
  both.outputs = {{"twice"}, {"negated"}};
  both.cpu = [](const CppCall& c, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      c.out<float>(0)[i] = 2 * c.in<float>()[i];
      c.out<float>(1)[i] = -c.in<float>()[i];
    }
  };
  both.gradient = [](const KernelBackward& b) { return std::vector{b.g(0) * 2 - b.g(1)}; };
  const UserKernel two = system.add_kernel(both);
  const std::vector<Tensor> x{tensor({1.0F, 2.0F})};
  const auto results = call_all(two, x);
  ASSERT_EQ(results.size(), 2U);
  expect_values<float>(results[0] + results[1], Shape{2}, {1, 2});
  const auto second = [&](const Tensor& v) {
    return sum(call_all(two, std::vector<Tensor>{v})[1]);
  };
  expect_values<float>(grad(second)(x[0]), Shape{2}, {-1, -1});
}

TEST_P(KernelCalls, two_kernels_of_one_name_stay_apart) {
  const System other;
  KernelSpec cube = square();
  cube.glsl = "void main() { uint i = stoker_index(); if (i < n) y(i) = a * x(i) * x(i) * x(i); }";
  cube.cpu = [](const CppCall& c, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      c.out<float>()[i] = c.in<float>()[i] * c.in<float>()[i] * c.in<float>()[i];
  };
  const UserKernel elsewhere = other.add_kernel(cube);
  const Tensor x = tensor({2.0F, 3.0F});
  expect_values<float>(call(kernel, {x}), Shape{2}, {4, 9});
  expect_values<float>(call(elsewhere, {x}), Shape{2}, {8, 27});
}

INSTANTIATE_TEST_SUITE_P(Devices, KernelCalls, every_device(), device_name);

using KernelCallErrors = Tensors;

TEST_F(KernelCallErrors, are_thrown_by_the_call_in_the_kernels_name) {
  const UserKernel kernel = system.add_kernel(square());
  const Tensor x = tensor({1.0F});
  const Error wrong = error_of([&] { return call(kernel, {x}, {{"c", 1.0}}); });
  EXPECT_EQ(wrong.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(wrong.op(), "scaled_square");
  EXPECT_EQ(code_of([&] { return call(kernel, {x, x}); }), ErrorCode::arity_mismatch);
  EXPECT_EQ(code_of([&] { return call(kernel, {as_type(x, DType::s32)}); }),
            ErrorCode::dtype_mismatch);
  const UserKernel sums = system.add_kernel(row_sums());
  EXPECT_EQ(code_of([&] { return call(sums, {x}); }), ErrorCode::shape_mismatch);
}

// Neither the device nor the CPU in its place has it: what the device lacks is what matters.
TEST_F(KernelCallErrors, of_a_kernel_that_a_gpu_lacks_say_what_it_lacks) {
  const DeviceScope on_gpu{system.device("vulkan")};
  const UserKernel kernel = system.add_kernel(
      {.name = "adds",
       .glsl = "#extension GL_EXT_shader_atomic_float : require\nshared float q;\n"
               "void main() { atomicAdd(q, 1.0); y(0) = q; }"});
  const Error error = error_of([&] { return call(kernel, {tensor({1.0F})}).item<float>(); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.reason().find("lacks a feature that the shader needs"), std::string_view::npos)
      << error.what();
}

TEST_F(KernelCallErrors, of_gradients_are_thrown_while_differentiating) {
  const UserKernel sums = system.add_kernel(row_sums());
  const Tensor x = tensor({{1.0F, 2.0F}});
  const auto gradient_by = [&](KernelGradient rule) {
    return error_of([&] {
      return grad([&](const Tensor& v) { return sum(call(sums, {v}, {}, {.gradient = rule})); })(x);
    });
  };
  const Error none = gradient_by({});
  EXPECT_EQ(none.code(), ErrorCode::unsupported);
  EXPECT_EQ(none.op(), "own_row_sums");
  EXPECT_EQ(gradient_by([](const KernelBackward&) { return std::vector<Tensor>{}; }).code(),
            ErrorCode::arity_mismatch);
  EXPECT_EQ(gradient_by([](const KernelBackward& b) { return std::vector{b.g()}; }).code(),
            ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker
