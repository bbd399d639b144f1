// Shapes are data: what differs in extents, strides and constants only is one shader and one pipeline.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "device_run.hpp"
#include "fused_fixture.hpp"
#include "stoker/kernels/fused/product.hpp"
#include "stoker/kernels/fused/reduction.hpp"

namespace stoker {
namespace {

using namespace fused_test;

Bytes numbers(const TensorSpec& spec) {
  std::vector<double> values(spec.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7 % 11) - 5;
  return stored(spec.dtype, values);
}

/// x reversed along its last axis, plus a number for each column, times a constant.
FusedProgram strided(std::int64_t rows, std::int64_t columns, float factor = 2) {
  FusedProgram program;
  program.shape = Shape{rows, columns};
  FusedProgram::Input x{.spec = {DType::f32, program.shape}, .offset = columns - 1};
  x.strides[0] = columns;
  x.strides[1] = -1;
  FusedProgram::Input each{.spec = {DType::f32, Shape{columns}}};
  each.strides[1] = 1;
  program.inputs = {x, each, dense(DType::f32, program.shape)};
  program.constants = {fused_constant(factor)};
  program.code = {{function("add"), DType::f32, {0, 1}},
                  {function("multiply"), DType::f32, {4, 3}},
                  {function("add"), DType::f32, {5, 2}}};
  program.outputs = {6};
  return program;
}

FusedReduction over_rows(const Shape& shape) {
  FusedReduction reduction;
  reduction.shape = shape;
  reduction.reduced = {false, true};
  return reduction;
}

/// max(product + a number for each entry of the last axis, 0).
FusedProgram finished(const TensorSpec& product) {
  FusedProgram program{
      .shape = product.shape,
      .inputs = {dense(product.dtype, product.shape)},
      .constants = {fused_constant(0.0F)},
      .code = {{function("add"), DType::f32, {0, 1}}, {function("max"), DType::f32, {3, 2}}},
      .outputs = {4}};
  const std::size_t last = product.shape.rank() - 1;
  FusedProgram::Input bias{.spec = {product.dtype, Shape{product.shape[last]}}};
  bias.strides[last] = 1;
  program.inputs.push_back(bias);
  return program;
}

TensorSpec product_spec(const FusedProduct& product) {
  const std::vector<TensorSpec> inputs{product.a, product.b};
  return infer(product.kernel, inputs, product.params).value()[0];
}

TEST(FusedTexts, say_how_things_lie_and_not_where) {
  const auto names = [](const std::shared_ptr<const Kernel>& kernel) {
    std::vector<std::string> all;
    for (const auto& shader : kernel->shaders) all.push_back(shader->name);
    return all;
  };
  EXPECT_EQ(names(fused_kernel(strided(8, 16)).value()),
            names(fused_kernel(strided(301, 88, 5)).value()));
  EXPECT_NE(names(fused_kernel(strided(8, 16)).value()),
            names(fused_kernel(strided(8, 17)).value()))
      << "not four at once";
  EXPECT_EQ(names(fused_reduction_kernel(strided(8, 16), over_rows(Shape{8, 16})).value()),
            names(fused_reduction_kernel(strided(9, 20, 3), over_rows(Shape{9, 20})).value()));
  const auto layer = [&](const char* kernel, const Shape& a, const Shape& b) {
    const FusedProduct product{{DType::f32, a}, {DType::f32, b}, {}, kernel};
    return names(fused_product_kernel(finished(product_spec(product)), product).value());
  };
  EXPECT_EQ(layer("matmul", Shape{7, 64}, Shape{64, 32}),
            layer("matmul", Shape{9, 80}, Shape{80, 32}));
  EXPECT_EQ(layer("matmul", Shape{3, 7, 64}, Shape{3, 64, 32}),
            layer("matmul", Shape{5, 7, 80}, Shape{5, 80, 32}));
  EXPECT_EQ(layer("conv", Shape{2, 3, 8, 8}, Shape{4, 3, 3, 3}),
            layer("conv", Shape{5, 3, 12, 12}, Shape{4, 3, 3, 3}));
  EXPECT_EQ(layer("conv", Shape{2, 8, 9, 9}, Shape{20, 8, 3, 3}),
            layer("conv", Shape{5, 8, 12, 11}, Shape{20, 8, 3, 3}));
}

TEST(FusedTexts, hold_no_constant_that_a_driver_may_think_away) {
  FusedProgram program = strided(4, 8);
  for (const float value : {0.0F, INFINITY, -INFINITY, NAN, -0.0F}) {
    program.constants[0] = fused_constant(value);
    const auto shaders = fused_kernel(program).value()->shaders;
    EXPECT_EQ(shaders[0]->name, fused_kernel(strided(4, 8)).value()->shaders[0]->name) << value;
  }
}

class FusedShapes : public KernelsOnDevices {
 protected:
  /// Runs it here and compares with the CPU's way to compute the same.
  void expect_right(const std::shared_ptr<const Kernel>& kernel, std::vector<TensorSpec> specs) {
    std::vector<Bytes> inputs;
    for (const TensorSpec& spec : specs) inputs.push_back(numbers(spec));
    const ParamSet params = ParamSet::resolve(kernel->name, {}, {}).value();
    const auto outputs = kernel->check(specs, params).value();
    const auto want =
        run_plan(kernel->cpu(KernelCall{specs, params}, outputs).value(), inputs, outputs);
    EXPECT_EQ(run(kernel, specs, inputs), want[0]) << specs[0].to_string();
  }
  [[nodiscard]] std::uint64_t created() const { return device_.stats().backend.pipelines_created; }
};
INSTANTIATE_TEST_SUITE_P(Devices, FusedShapes, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

TEST_P(FusedShapes, programs_of_many_shapes_are_one_pipeline) {
  for (std::int64_t rows = 2; rows < 40; ++rows) {
    const FusedProgram program = strided(rows, 4 * (rows % 5) + 8, static_cast<float>(rows));
    expect_right(fused_kernel(program, compile_).value(), program.buffers());
  }
  EXPECT_EQ(created(), on_gpu() ? 1U : 0U);
}

TEST_P(FusedShapes, coordinates_are_right_at_awkward_extents) {
  // Three axes that stay apart; every coordinate is divided out.
  for (const std::int64_t inner : {2, 3, 5, 7, 127, 128, 129, 641, 65535, 65537}) {
    for (const std::int64_t middle : {2, 3, 31}) {
      FusedProgram program;
      program.shape = Shape{3, middle, inner};
      FusedProgram::Input x{.spec = {DType::f32, Shape{inner, middle, 3}}};
      x.strides[0] = 1;
      x.strides[1] = 3;
      x.strides[2] = 3 * middle;
      program.inputs = {x};
      program.outputs = {0};
      expect_right(fused_kernel(program, compile_).value(), program.buffers());
    }
  }
}

TEST_P(FusedShapes, reductions_of_many_shapes_are_few_pipelines) {
  for (std::int64_t rows = 2; rows < 40; ++rows) {
    const FusedProgram program = strided(rows, 64);
    expect_right(fused_reduction_kernel(program, over_rows(program.shape), compile_).value(),
                 program.buffers());
  }
  EXPECT_LE(created(), on_gpu() ? 1U : 0U);
}

TEST_P(FusedShapes, layers_of_many_batch_sizes_are_few_pipelines) {
  const auto run_layer = [&](const char* name, const Shape& a, const Shape& b) {
    const FusedProduct product{{DType::f32, a}, {DType::f32, b}, {}, name};
    const FusedProgram program = finished(product_spec(product));
    std::vector<TensorSpec> specs{product.a, product.b};
    specs.push_back(program.buffers()[1]);
    expect_right(fused_product_kernel(program, product, compile_).value(), specs);
  };
  for (std::int64_t batch = 2; batch < 70; ++batch)
    run_layer("matmul", Shape{batch, 20}, Shape{20, 36});
  EXPECT_LE(created(), on_gpu() ? 3U : 0U) << "one for each tiling that suits";
  const std::uint64_t before = created();
  for (std::int64_t batch = 2; batch < 12; ++batch)
    run_layer("matmul", Shape{batch, 5, 20}, Shape{batch, 20, 36});
  EXPECT_LE(created(), before + (on_gpu() ? 3 : 0));
  const std::uint64_t products = created();
  for (std::int64_t batch = 1; batch < 12; ++batch)
    run_layer("conv", Shape{batch, 3, 7, 4 * batch + 7}, Shape{4, 3, 3, 3});
  for (std::int64_t batch = 1; batch < 12; ++batch)
    run_layer("conv", Shape{batch, 8, 9, 4 * batch + 7}, Shape{20, 8, 3, 3});
  EXPECT_LE(created(), products + (on_gpu() ? 2 : 0));
}

TEST_P(FusedShapes, plain_convolutions_of_many_sizes_are_one_pipeline) {
  const auto kernel = KernelRegistry::builtin().find("conv").value();
  for (std::int64_t size = 4; size < 12; ++size)
    static_cast<void>(run(kernel,
                          {{DType::f32, Shape{2, 3, size, size}}, {DType::f32, Shape{4, 3, 3, 3}}},
                          {numbers({DType::f32, Shape{2, 3, size, size}}),
                           numbers({DType::f32, Shape{4, 3, 3, 3}})}));
  EXPECT_EQ(created(), on_gpu() ? 1U : 0U);
}

TEST_P(FusedShapes, a_program_may_read_and_write_many_buffers) {
  for (const std::size_t count : {13U, 20U, 40U}) {
    FusedProgram program;
    program.shape = Shape{6, 24};
    for (std::size_t k = 0; k < count; ++k) {
      program.inputs.push_back(dense(DType::f32, program.shape));
      if (k % 3 == 1) {
        program.inputs.back().strides[0] = 1;
        program.inputs.back().strides[1] = 6;
      }
    }
    for (std::size_t k = 1; k < count; ++k)
      program.code.push_back({function("add"),
                              DType::f32,
                              {static_cast<FusedProgram::Value>(k == 1 ? 0 : count + k - 2),
                               static_cast<FusedProgram::Value>(k)}});
    program.outputs = {static_cast<FusedProgram::Value>(2 * count - 2)};
    expect_right(fused_kernel(program, compile_).value(), program.buffers());
  }
}

}  // namespace
}  // namespace stoker
