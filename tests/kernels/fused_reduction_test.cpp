// Programs whose values are reduced as they are computed: the same as storing and then reducing them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "device_run.hpp"
#include "fused_fixture.hpp"
#include "stoker/kernels/fused/reduction.hpp"

namespace stoker {
namespace {

using namespace fused_test;
using Operation = FusedReduction::Operation;

std::string_view plain_name(Operation operation) {
  return kernels::reduce::operations[static_cast<std::size_t>(operation)].kernel;
}

FusedReduction reduction_of(Operation operation, const Shape& shape,
                            const std::vector<std::int64_t>& axes) {
  FusedReduction reduction{operation, shape, std::vector<bool>(shape.rank(), axes.empty())};
  for (const std::int64_t axis : axes) reduction.reduced[static_cast<std::size_t>(axis)] = true;
  return reduction;
}

/// x · y of dense operands.
FusedProgram product_of(DType dtype, const Shape& shape) {
  return single(*function("multiply"), {dtype, dtype}, dtype, shape);
}

/// Values that are exact in every dtype, and mixed.
std::vector<double> some_values(std::size_t n, std::mt19937& random, DType dtype) {
  std::vector<double> values(n);
  const bool whole = is_integer(dtype) || dtype == DType::boolean;
  std::uniform_int_distribution<int> any{is_signed(dtype) || !whole ? -12 : 0, 12};
  for (double& value : values) value = any(random) / (whole ? 1.0 : 8.0);
  return values;
}

class FusedReductions : public KernelsOnDevices {
 protected:
  Bytes fused(const FusedProgram& program, const FusedReduction& reduction,
              const std::vector<Bytes>& inputs) {
    return run(fused_reduction_kernel(program, reduction, compile_).value(), program.buffers(),
               inputs);
  }

  /// In two kernels: what the program stores, then the reduction of that.
  Bytes in_two(const FusedProgram& program, const FusedReduction& reduction,
               const std::vector<Bytes>& inputs) {
    values_ = run(fused_kernel(program, compile_).value(), program.buffers(), inputs);
    std::vector<std::int64_t> axes;
    for (std::size_t axis = 0; axis < reduction.reduced.size(); ++axis)
      if (reduction.reduced[axis]) axes.push_back(static_cast<std::int64_t>(axis));
    const DType dtype = program.dtypes()[program.outputs[0]];
    return run(KernelRegistry::builtin().find(plain_name(reduction.operation)).value(),
               {{dtype, reduction.shape}}, {values_}, {{"axes", axes}});
  }

  void expect_same(const FusedProgram& program, const FusedReduction& reduction,
                   const std::vector<Bytes>& inputs) {
    const DType dtype = program.dtypes()[program.outputs[0]];
    const DType result = reduction.result(dtype).value().dtype;
    const Bytes one = fused(program, reduction, inputs);
    const Bytes two = in_two(program, reduction, inputs);
    ASSERT_EQ(one.size(), two.size());
    const std::string named = std::string{plain_name(reduction.operation)} + " of " +
                              reduction.shape.to_string() + "\n" + program.to_string();
    const bool exact = !is_float(result) || reduction.operation == Operation::max ||
                       reduction.operation == Operation::min;
    const auto got = doubles(result, one);
    const auto want = doubles(result, two);
    double largest = 0;
    for (const double value : doubles(dtype, values_))
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    const auto count =
        static_cast<double>(kernels::reduce::steps(reduction.shape, reduction.reduced).count);
    const double unit = result == DType::f64 ? 0x1p-52 : 0x1p-23;
    const double rounding = result == DType::bf16  ? 0x1p-7
                            : result == DType::f16 ? 0x1p-10
                                                   : 4 * unit;
    const double chains = std::min(count, 80.0) * unit * largest;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (exact || !std::isfinite(want[i])) {
        ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
            << got[i] << " " << want[i] << " at " << i << ": " << named;
        continue;
      }
      double bound = std::abs(want[i]) * rounding;
      if (reduction.operation == Operation::product)
        bound += std::abs(want[i]) * count * unit + 1e-30;
      else
        bound += chains * (reduction.operation == Operation::mean ? 1 : count);
      ASSERT_NEAR(got[i], want[i], bound) << "at " << i << ": " << named;
    }
  }

  Bytes values_;  // what the latest program stored
};

TEST_P(FusedReductions, sums_of_products_along_every_axis_equal_two_kernels) {
  std::mt19937 random{3};
  const struct {
    Shape shape;
    std::vector<std::int64_t> axes;
  } cases[] = {
      {{37, 128}, {1}},
      {{31, 127}, {1}},
      {{4099, 3}, {1}},
      {{3, 20003}, {1}},
      {{1, 300000}, {}},
      {{2, 131072}, {1}},
      {{129, 64}, {0}},
      {{127, 61}, {0}},
      {{5, 4099}, {0}},
      {{300, 4228}, {0}},
      {{4096, 68}, {0}},
      {{20011, 3}, {0}},
      {{2003, 33}, {0}},
      {{5, 19, 44}, {1}},
      {{7, 700, 5}, {1}},
      {{6, 7, 8, 9}, {1, 2}},
      {{4, 6, 15, 17}, {0, 2, 3}},
      {{3, 4, 5, 6, 7}, {0, 2, 4}},
      {{1, 5, 1}, {0, 2}},
      {{1}, {}},
      {{9000, 300}, {0, 1}},
      {{700, 1500}, {0}},
      {{6, 2}, {}},
      {{}, {}},
  };
  for (const auto& [shape, axes] : cases)
    for (const DType dtype : {DType::f32, DType::s8, DType::bf16}) {
      if (dtype != DType::f32 && (on_gpu() || shape.elements() > 100000)) continue;
      const auto n = static_cast<std::size_t>(shape.elements());
      const std::vector<Bytes> inputs{stored(dtype, some_values(n, random, dtype)),
                                      stored(dtype, some_values(n, random, dtype))};
      expect_same(product_of(dtype, shape), reduction_of(Operation::sum, shape, axes), inputs);
    }
}

TEST_P(FusedReductions, every_operation_takes_every_dtype) {
  std::mt19937 random{4};
  const std::vector<DType> dtypes =
      on_gpu()
          ? std::vector{DType::f32, DType::f16, DType::s8, DType::s64}
          : std::vector{DType::f32, DType::f64, DType::f16, DType::bf16, DType::s8,  DType::s16,
                        DType::s32, DType::s64, DType::u8,  DType::u16,  DType::u32, DType::u64};
  for (const auto& entry : kernels::reduce::operations)
    for (const DType dtype : dtypes)
      for (const auto& [shape, axis] : {std::pair{Shape{9, 37}, 1}, {Shape{37, 40}, 0}}) {
        const auto n = static_cast<std::size_t>(shape.elements());
        const std::vector<Bytes> inputs{stored(dtype, some_values(n, random, dtype)),
                                        stored(dtype, some_values(n, random, dtype))};
        if (on_gpu() && (axis == 0) != (entry.operation == Operation::sum)) continue;
        expect_same(single(*function("max"), {dtype, dtype}, dtype, shape),
                    reduction_of(entry.operation, shape, {axis}), inputs);
      }
}

TEST_P(FusedReductions, random_programs_equal_two_kernels) {
  std::mt19937 random{5};
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n - 1}(random);
  };
  const DType dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::s32, DType::u8, DType::f64};
  const Shape shapes[] = {{5, 7},   {40, 24},  {3, 1030}, {1030, 3},    {2, 3, 40},
                          {65, 66}, {7, 8, 9}, {2048, 2}, {1, 70, 100}, {300, 1, 24}};
  const char* const binary[] = {"add", "subtract", "multiply", "max"};
  const char* const unary[] = {"abs", "negate", "copy"};
  const int rounds = on_gpu() ? 24 : 600;  // a GPU compiles each of them
  for (int round = 0; round < rounds; ++round) {
    const DType dtype = dtypes[pick(std::size(dtypes))];
    const Shape shape = shapes[pick(std::size(shapes))];
    FusedProgram program{.shape = shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
    std::vector<Bytes> inputs;
    for (std::size_t k = 0; k < 1 + pick(3); ++k) {
      // Dense, repeated along some axes, or reversed along some.
      FusedProgram::Input input = dense(dtype, shape);
      for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const std::size_t how = pick(6);
        if (how == 0) input.strides[axis] = 0;
        if (how == 1) {
          input.offset += input.strides[axis] * (shape[axis] - 1);
          input.strides[axis] = -input.strides[axis];
        }
      }
      program.inputs.push_back(input);
      inputs.push_back(
          stored(dtype, some_values(static_cast<std::size_t>(shape.elements()), random, dtype)));
    }
    for (std::size_t step = 0; step < pick(4); ++step) {
      const std::size_t values = program.first_result() + program.code.size();
      const bool two = pick(3) > 0;
      FusedProgram::Instruction one{function(two ? binary[pick(4)] : unary[pick(3)]), dtype, {}};
      for (auto& operand : one.operands) operand = static_cast<FusedProgram::Value>(pick(values));
      program.code.push_back(one);
    }
    program.outputs = {
        static_cast<FusedProgram::Value>(program.first_result() + program.code.size() - 1)};
    std::vector<std::int64_t> axes;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      if (pick(2) == 0) axes.push_back(static_cast<std::int64_t>(axis));
    const auto& entry = kernels::reduce::operations[pick(std::size(kernels::reduce::operations))];
    // Long products overflow, and then their order matters.
    const bool overflows = entry.operation == Operation::product && is_float(dtype);
    expect_same(program, reduction_of(overflows ? Operation::mean : entry.operation, shape, axes),
                inputs);
    if (HasFatalFailure()) return;
  }
}

TEST_P(FusedReductions, nan_wins_and_zeros_keep_their_product) {
  const Shape shape{4, 300};
  std::mt19937 random{6};
  std::vector<double> x = some_values(1200, random, DType::f32);
  x[417] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> ones(1200, 1);
  const std::vector<Bytes> inputs{stored(DType::f32, x), stored(DType::f32, ones)};
  for (const Operation operation : {Operation::max, Operation::min, Operation::sum, Operation::all})
    for (const std::int64_t axis : {0, 1})
      expect_same(product_of(DType::f32, shape), reduction_of(operation, shape, {axis}), inputs);
}

TEST_P(FusedReductions, sums_of_many_equal_numbers_are_accurate) {
  const Shape shape{1 << 20};
  const FusedProgram program = product_of(DType::f32, shape);
  const std::vector<double> tenths(1 << 20, 0.1F);
  const std::vector<double> ones(1 << 20, 1);
  const Bytes sum = fused(program, reduction_of(Operation::sum, shape, {}),
                          {stored(DType::f32, tenths), stored(DType::f32, ones)});
  const double want = 0.1F * static_cast<double>(1 << 20);
  EXPECT_NEAR(doubles(DType::f32, sum)[0], want, want * 0x1p-20);
}

TEST_P(FusedReductions, elements_may_be_reduced_under_another_shape) {
  std::mt19937 random{7};
  const FusedProgram program = product_of(DType::s32, Shape{6, 20});
  const std::vector<Bytes> inputs{stored(DType::s32, some_values(120, random, DType::s32)),
                                  stored(DType::s32, some_values(120, random, DType::s32))};
  expect_same(program, reduction_of(Operation::sum, Shape{3, 8, 5}, {1}), inputs);

  // What repeats in the program's shape begins anywhere in the rows of the other.
  FusedProgram repeats = product_of(DType::s32, Shape{300, 8});
  repeats.inputs[1].strides[0] = 0;
  expect_same(repeats, reduction_of(Operation::sum, Shape{240, 10}, {1}),
              {stored(DType::s32, some_values(2400, random, DType::s32)),
               stored(DType::s32, some_values(2400, random, DType::s32))});
}

TEST_P(FusedReductions, nothing_is_reduced_to_what_changes_nothing) {
  const FusedProgram program = product_of(DType::f32, Shape{0, 3});
  EXPECT_EQ(doubles(DType::f32, fused(program, reduction_of(Operation::sum, Shape{0, 3}, {0}),
                                      {Bytes{}, Bytes{}})),
            (std::vector<double>{0, 0, 0}));
  for (const double mean :
       doubles(DType::f32,
               fused(program, reduction_of(Operation::mean, Shape{0, 3}, {0}), {Bytes{}, Bytes{}})))
    EXPECT_TRUE(std::isnan(mean));
}

INSTANTIATE_TEST_SUITE_P(Devices, FusedReductions, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

TEST(FusedReduction, what_does_not_fit_is_refused) {
  const Shape shape{4, 5};
  const auto code_of = [](const FusedProgram& program, const FusedReduction& reduction) {
    return fused_reduction_kernel(program, reduction).error().code();
  };
  const FusedProgram program = product_of(DType::f32, shape);
  EXPECT_EQ(code_of(program, reduction_of(Operation::sum, Shape{4, 6}, {})),
            ErrorCode::shape_mismatch);
  FusedProgram both = program;
  both.outputs = {0, 1};
  EXPECT_EQ(code_of(both, reduction_of(Operation::sum, shape, {})), ErrorCode::invalid_argument);
  FusedReduction axes = reduction_of(Operation::sum, shape, {});
  axes.reduced.pop_back();
  EXPECT_EQ(code_of(program, axes), ErrorCode::invalid_argument);
  EXPECT_EQ(
      code_of(product_of(DType::f32, Shape{0, 5}), reduction_of(Operation::max, Shape{0, 5}, {0})),
      ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of(single(*function("copy"), {DType::boolean}, DType::boolean, shape),
                    reduction_of(Operation::max, shape, {})),
            ErrorCode::dtype_mismatch);
}

// A shader is the texts of the functions and that of the reduction: no name may be in both.
TEST(FusedReduction, every_function_that_a_gpu_has_may_be_reduced_there) {
  GlslCompiler compiler;
  const auto compile = [&](const Shader& shader, const ShaderVariant& variant) {
    return compiler.try_compile(shader, variant);
  };
  const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
  std::size_t compiled = 0;
  // Rows, columns and narrow ones in turn.
  const std::pair<Shape, std::int64_t> shapes[] = {{{9, 36}, 1}, {{36, 64}, 0}, {{999, 3}, 0}};
  for (const ScalarFunction* each : scalar_functions())
    for (const DType dtype : {DType::f32, DType::s32}) {
      const auto& [shape, axis] = shapes[compiled % 3];
      std::vector<DType> operands(each->arity, dtype);
      if (each->condition) operands[0] = DType::u8;
      const auto result = scalar_result(*each, operands, DType::f32);
      if (result.has_error()) continue;
      const FusedProgram program = single(*each, operands, *result, shape);
      const auto kernel =
          fused_reduction_kernel(program, reduction_of(Operation::sum, shape, {axis}), compile)
              .value();
      const auto specs = program.buffers();
      const auto outputs = kernel->check(specs, params).value();
      const auto plan = kernel->gpu(KernelCall{specs, params}, outputs, {});
      if (!plan.has_error()) ++compiled;
      EXPECT_EQ(plan.has_error(), each->glsl(operands.back(), *result).expression.empty())
          << each->name << (plan.has_error() ? plan.error().what() : "");
    }
  EXPECT_GT(compiled, 60U);
}

// On the CPU a sum's order is a matter of the shapes: whichever slices there are, and however late.
TEST(FusedReduction, slices_in_any_order_give_the_same_bits) {
  const Shape shape{1100, 700};
  const FusedProgram program = product_of(DType::f32, shape);
  std::mt19937 random{8};
  std::vector<double> x(1100 * 700);
  for (double& value : x) value = std::uniform_real_distribution<double>{-1, 1}(random);
  const Block memory{x.size() * 4, stored(DType::f32, x)};
  const void* const inputs[] = {memory.get(), memory.get()};
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{0}, {1}, {0, 1}}) {
    const auto kernel =
        fused_reduction_kernel(program, reduction_of(Operation::sum, shape, axes)).value();
    const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
    const auto specs = program.buffers();
    const auto outputs = kernel->check(specs, params).value();
    const CpuPlan plan = kernel->cpu(KernelCall{specs, params}, outputs).value();
    std::vector<Bytes> results;
    for (const bool backwards : {false, true}) {
      const Block scratch{plan.scratch_bytes, Bytes(plan.scratch_bytes, std::byte{0x7f})};
      const Block result{outputs[0].bytes()};
      void* const out[] = {result.get()};
      for (const CpuStage& stage : plan.stages)
        for (std::uint32_t slice = 0; slice < stage.slices; ++slice)
          stage.run(CpuArgs{inputs, out, scratch.get()},
                    backwards ? stage.slices - 1 - slice : slice);
      results.emplace_back(result.get(), result.get() + outputs[0].bytes());
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

}  // namespace
}  // namespace stoker
