// Fused programs on the GPU device there is (in tests usually Mesa's software one): the results of
// the CPU, to the bit where both compute exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "fused_fixture.hpp"
#include "stoker/api/kernel_spec.hpp"
#include "stoker/api/system.hpp"
#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/fused/product.hpp"
#include "stoker/kernels/fused/reduction.hpp"
#include "stoker/kernels/glsl/compiler.hpp"

namespace stoker {
namespace {

using namespace fused_test;

class FusedOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = system_.device("vulkan");
    } catch (const Error& error) {
      GTEST_SKIP() << "no Vulkan device here: " << error.what();
    }
  }

  /// The outputs, or why there are none.
  Result<std::vector<Bytes>> run_here(const FusedProgram& program,
                                      const std::vector<Bytes>& inputs) try {
    const auto compile = [this](const Shader& shader, const ShaderVariant& variant) {
      return compiler_.try_compile(shader, variant);
    };
    Kernel kernel = *fused_kernel(program, compile).value();
    kernel.name = "fused_" + std::to_string(++kernels_);
    const std::string name = kernel.name;
    system_.add_kernel(std::move(kernel));
    KernelCallRequest request{name, {}, {}};
    const auto specs = program.buffers();
    for (std::size_t i = 0; i < specs.size(); ++i)
      request.inputs.push_back(device_.buffer(specs[i], inputs[i]));
    const auto dtypes = program.dtypes();
    for (const auto output : program.outputs)
      request.outputs.push_back(device_.buffer(TensorSpec{dtypes[output], program.shape}));
    device_.submit(std::vector{request});
    std::vector<Bytes> results;
    for (Buffer& buffer : request.outputs) {
      auto bytes = buffer.read_bytes().wait();
      if (bytes.has_error()) return bytes.error();
      results.push_back(std::move(*bytes));
    }
    return results;
  } catch (const Error& error) {
    return error;
  }

  System system_;
  Device device_;
  GlslCompiler compiler_;
  int kernels_ = 0;
};

TEST_F(FusedOnGpu, every_function_agrees_with_the_cpu) {
  std::mt19937 random{5};
  int compared = 0;
  int refused = 0;
  const Shape shape{1027};
  for (const ScalarFunction* each : scalar_functions())
    for (const DType dtype :
         {DType::f32, DType::f64, DType::bf16, DType::s8, DType::u32, DType::u64, DType::boolean})
      for (const DType wanted : {DType::f32, DType::s8, DType::f16}) {
        if (each->result != ScalarResult::free && wanted != DType::f32) continue;
        std::vector<DType> operands(each->arity, dtype);
        if (each->condition) operands[0] = DType::u8;
        const auto result = scalar_result(*each, operands, wanted);
        if (result.has_error()) continue;
        std::vector<Bytes> inputs;
        for (std::size_t k = 0; k < operands.size(); ++k) {
          std::vector<double> values(1027);
          for (std::size_t i = 0; i < values.size(); ++i) {
            const double high = i % 4 == 0 ? 1 : i % 4 == 1 ? 9 : i % 4 == 2 ? 80 : 30000;
            std::uniform_real_distribution<double> any{-high, high};
            values[i] = is_float(dtype) ? any(random) : std::round(any(random));
          }
          inputs.push_back(stored(operands[k], values));
        }
        const auto program = single(*each, operands, *result, shape);
        const auto got = run_here(program, inputs);
        if (got.has_error()) {
          EXPECT_EQ(got.error().code(), ErrorCode::unsupported) << got.error().what();
          ++refused;
          continue;
        }
        ++compared;
        const auto want = doubles(*result, run(program, inputs)[0]);
        const auto have = doubles(*result, (*got)[0]);
        // Vulkan grants roots and quotients 3 units, of which a function may take several.
        const double steps =
            is_float(*result) && *result != DType::f64
                ? (each->ulps > 0 || each->name == "divide" || each->name == "sqrt" ? 24 : 1)
                : 2;
        const double bound = is_float(*result)
                                 ? steps * cases::compute_rounding(*result) +
                                       (size_of(*result) == 2 ? 2 * cases::rounding(*result) : 0)
                                 : 0;
        int wrong = 0;
        for (std::size_t i = 0; i < want.size() && wrong < 3; ++i) {
          if (near(have[i], want[i], bound, cases::subnormal(*result), *result)) continue;
          ++wrong;
          ADD_FAILURE() << each->name << " of " << to_string(dtype) << " to " << to_string(*result)
                        << " at " << doubles(operands.back(), inputs.back())[i] << ": got "
                        << have[i] << ", the CPU has " << want[i];
        }
      }
  // Refused is what has no elementary functions of f64; a device may lack a dtype besides.
  EXPECT_GT(compared, 4 * refused);
}

TEST_F(FusedOnGpu, a_program_needs_no_buffer) {
  const Shape shape{6, 7};
  FusedProgram program{.shape = shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
  program.inputs = {{.spec = {DType::s32, Shape{}}, .offset = 0, .strides = {7, 1}, .index = true}};
  program.code = {{function("cast"), DType::f32, {0}}, {function("sqrt"), DType::f32, {1}}};
  program.outputs = {1};
  const auto want = run(program, {});
  const auto got = run_here(program, {});
  ASSERT_TRUE(got.has_value()) << got.error().what();
  EXPECT_TRUE(*got == want);
  device_ = system_.device("cpu");
  EXPECT_TRUE(run_here(program, {}).value() == want);
}

TEST_F(FusedOnGpu, strided_inputs_and_indices_agree_to_the_bit) {
  std::mt19937 random{9};
  const std::vector<DType> dtypes{DType::s32, DType::u8, DType::f16, DType::s16, DType::s64};
  for (int round = 0; round < 24; ++round) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random() % 40);
    const std::int64_t columns =
        round % 2 ? 4 * (1 + static_cast<std::int64_t>(random() % 40)) : 37;
    const Shape shape{rows, columns};
    const DType dtype = dtypes[static_cast<std::size_t>(round) % dtypes.size()];
    FusedProgram program{.shape = shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
    const Strides ways[] = {{columns, 1}, {0, 1}, {1, 0}, {0, 0}, {1, rows}, {columns, -1}};
    std::vector<Bytes> inputs;
    for (int k = 0; k < 3; ++k) {
      const Strides& way = ways[random() % 6];
      program.inputs.push_back({.spec = {dtype, shape},
                                .offset = way[1] < 0 ? columns - 1 : 0,
                                .strides = way,
                                .index = k == 2});
      std::vector<double> values(static_cast<std::size_t>(rows * columns));
      for (double& value : values) value = static_cast<double>(random() % 120);
      if (k < 2) inputs.push_back(stored(dtype, values));
    }
    program.constants = {{dtype, dtype == DType::f16 ? 0x4200U : 3U}};
    program.code = {{function("multiply"), dtype, {0, 3}},
                    {function("add"), dtype, {4, 1}},
                    {function("greater"), DType::u8, {5, 2}},
                    {function("select"), dtype, {6, 5, 2}},
                    {function("negate"), dtype, {7}}};
    program.outputs = {8, 6};
    const auto got = run_here(program, inputs);
    ASSERT_TRUE(got.has_value()) << got.error().what();
    EXPECT_TRUE(*got == run(program, inputs)) << program.to_string();
  }
}

/// x · c0 + c1 … + cn.
FusedProgram with_constants(DType dtype, std::int64_t elements, const Bytes& constants) {
  const Shape shape{elements};
  FusedProgram program{.shape = shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
  program.inputs = {{.spec = {dtype, shape}, .offset = 0, .strides = {1}, .index = false}};
  const std::size_t bytes = size_of(dtype);
  for (std::size_t at = 0; at < constants.size(); at += bytes) {
    program.constants.push_back({dtype, 0});
    std::memcpy(&program.constants.back().bits, constants.data() + at, bytes);
  }
  const std::size_t count = program.constants.size();
  FusedProgram::Value last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    program.code.push_back({function(i == 0 ? "multiply" : "add"),
                            dtype,
                            {last, static_cast<FusedProgram::Value>(1 + i)}});
    last = static_cast<FusedProgram::Value>(count + 1 + i);
  }
  program.outputs = {last};
  return program;
}

TEST_F(FusedOnGpu, constants_of_any_value_and_number_compute_what_they_do_on_the_cpu) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> floats{
      {0.5, 3}, {0, 1}, {-0.0, 0}, {infinity, 1}, {std::nan(""), 1}, {1, -infinity}, {1e-40, 0}};
  const std::vector<std::vector<double>> integers{{3, 1}, {0, 200}, {-1, 5}, {127, -128}};
  std::vector<double> many(40, 1);  // more than can be pushed
  for (std::size_t i = 0; i < many.size(); i += 3) many[i] = 5;
  const std::vector<double> x{0, 1, -2, 5, 7, 1.5, 100, 3, 12};
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::bf16, DType::s8, DType::s16, DType::s32,
        DType::s64, DType::u8, DType::u16, DType::u32, DType::u64}) {
    auto all = is_float(dtype) ? floats : integers;
    all.push_back(many);
    for (const std::vector<double>& constants : all) {
      const auto program = with_constants(dtype, 9, stored(dtype, constants));
      const std::vector<Bytes> inputs{stored(dtype, x)};
      const auto got = run_here(program, inputs);
      ASSERT_TRUE(got.has_value()) << got.error().what();
      const auto have = doubles(dtype, (*got)[0]);
      const auto want = doubles(dtype, run(program, inputs)[0]);
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_TRUE(have[i] == want[i] || (std::isnan(have[i]) && std::isnan(want[i])))
            << program.to_string() << "at " << x[i] << ": " << have[i] << ", not " << want[i];
    }
  }
}

TEST_F(FusedOnGpu, integers_are_divided_by_constants_as_on_the_cpu) {
  const std::vector<Bytes> inputs{stored(DType::s32, {0, 1, -2, 50, -2147483648.0, 2147483647})};
  for (const char* name : {"quotient", "remainder"})
    for (const double divisor : {7.0, 0.0, -1.0, 1.0, -2147483648.0}) {
      auto program = with_constants(DType::s32, 6, stored(DType::s32, {divisor}));
      program.code[0].function = function(name);
      const auto got = run_here(program, inputs);
      ASSERT_TRUE(got.has_value()) << got.error().what();
      EXPECT_TRUE(*got == run(program, inputs)) << program.to_string();
    }
}

TEST_F(FusedOnGpu, programs_that_differ_only_in_constants_are_one_pipeline) {
  const auto created = [this] { return device_.stats().backend.pipelines_created; };
  for (const DType dtype : {DType::f32, DType::bf16, DType::s32, DType::u64}) {
    const auto before = created();
    for (const double value : {0.0, 1.0, 5.0, 100.0}) {
      const std::vector<Bytes> inputs{stored(dtype, {1, 2, 3, 4, 5})};
      const auto program = with_constants(dtype, 5, stored(dtype, {value, value + 1}));
      ASSERT_TRUE(run_here(program, inputs).has_value());
    }
    EXPECT_EQ(created(), before + 1) << to_string(dtype);
  }
}

TEST_F(FusedOnGpu, shaders_go_with_the_last_kernel_that_uses_them) {
  const auto kernel_with = [this](double value) {
    return fused_kernel(with_constants(DType::f32, 5, stored(DType::f32, {value})),
                        [this](const Shader& shader, const ShaderVariant& variant) {
                          return compiler_.try_compile(shader, variant);
                        })
        .value();
  };
  auto one = kernel_with(1);
  auto two = kernel_with(2);
  EXPECT_EQ(one->shaders, two->shaders);
  const std::weak_ptr<const Shader> shader = one->shaders[0];
  one.reset();
  EXPECT_FALSE(shader.expired());
  two.reset();
  EXPECT_TRUE(shader.expired());
  EXPECT_NE(kernel_with(3)->shaders[0], nullptr);
}

}  // namespace
}  // namespace stoker
