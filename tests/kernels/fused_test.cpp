// Fused programs on the CPU: each function against its double-precision reference, every way inputs
// can lie, and that fusing changes no bit. And their shaders compile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "fused_fixture.hpp"
#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/glsl/compiler.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker {
namespace {

using namespace fused_test;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A use of a function: its operands' dtypes and its result's.
struct Use {
  const ScalarFunction* function;
  std::vector<DType> operands;
  DType result;
  [[nodiscard]] std::string name() const {
    return std::string{function->name} + " of " + std::string{to_string(operands.back())} + " to " +
           std::string{to_string(result)};
  }
};

std::vector<Use> all_uses() {
  std::vector<Use> uses;
  for (const ScalarFunction* each : scalar_functions())
    for (const DType dtype : rules::all_dtypes()) {
      std::vector<DType> operands(each->arity, dtype);
      if (each->condition) operands[0] = DType::u8;
      for (const DType wanted : rules::all_dtypes()) {
        if (each->result != ScalarResult::free && wanted != DType::f32) continue;
        if (const auto result = scalar_result(*each, operands, wanted); result.has_value())
          uses.push_back({each, operands, *result});
      }
    }
  return uses;
}

/// Values in which the function may behave differently, and many between.
std::vector<double> operand_values(const Use& use, std::size_t operand, std::mt19937& random) {
  const DType dtype = use.operands[operand];
  const std::string_view name = use.function->name;
  std::vector<double> values;
  const auto draw = [&](double low, double high, int count) {
    std::uniform_real_distribution<double> any{low, high};
    for (int i = 0; i < count; ++i)
      values.push_back(is_float(dtype) ? any(random) : std::round(any(random)));
  };
  if (is_float(dtype)) {
    values = {0,   -0.0, 1,  -1,    0.5,    -0.5,     1.5,  -1.5, 2.5,      0.49999997, inf, -inf,
              nan, 2,    -2, 1e-20, -1e-30, 0x1p-149, 3e38, 1e4,  0.999999, -0.999999,  3,   -3};
    draw(-1, 1, 800);
    draw(-4, 4, 800);
    draw(-90, 90, 400);
    draw(-1e5, 1e5, 400);
  } else if (name == "pow") {
    draw(operand == 0 ? -9 : -3, 9, 2000);
  } else {
    values = {0, 1, -1, 2, 7, 8, 31, 63, 64, 127, -128, 255};
    draw(-20, 40, 1000);
    draw(-30000, 30000, 600);
  }
  std::shuffle(values.begin(), values.end(), random);
  // Unsigned 64-bit values near 2^64 are no doubles.
  if (!is_signed(dtype))
    for (double& value : values) value = std::abs(value);
  // As they are after the rounding to their dtype.
  return doubles(dtype, stored(dtype, values));
}

double wanted_value(const Use& use, const double* x) {
  const DType operand = use.operands.back();
  const double exact = use.function->reference(x, operand);
  if (use.function->result == ScalarResult::free) {
    if (use.result == DType::boolean) return exact != 0;
    if (is_float(use.result)) return exact;
    if (is_float(operand)) {
      const double count = std::ldexp(1.0, static_cast<int>(8 * size_of(use.result)));
      const double least = is_signed(use.result) ? -count / 2 : 0;
      if (std::isnan(exact)) return 0;
      return std::clamp(std::trunc(exact), least, least + count - 1);
    }
  }
  if (use.result == DType::u64 && exact < 0) return exact + 0x1p64;
  return cases::wrapped(exact, use.result);
}

TEST(Fused, every_function_of_every_dtype_is_within_its_bound) {
  std::mt19937 random{7};
  for (const Use& use : all_uses()) {
    std::vector<std::vector<double>> values;
    std::size_t n = ~std::size_t{0};
    for (std::size_t k = 0; k < use.operands.size(); ++k) {
      values.push_back(operand_values(use, k, random));
      n = std::min(n, values.back().size());
    }
    std::vector<Bytes> inputs;
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k].resize(n);
      inputs.push_back(stored(use.operands[k], values[k]));
    }
    const Shape shape{static_cast<std::int64_t>(n)};
    const auto got =
        doubles(use.result, run(single(*use.function, use.operands, use.result, shape), inputs)[0]);
    const double half_ulp = cases::compute_rounding(use.result);
    const double steps =
        use.result == DType::f64 ? (use.function->ulps > 0 ? 16 : 1) : 1 + 2 * use.function->ulps;
    // What is rounded to 16 bits may come out on the other side of a midpoint.
    const double bound =
        steps * half_ulp +
        (size_of(use.result) == 2 && is_float(use.result) ? 2 * cases::rounding(use.result) : 0);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n && wrong < 3; ++i) {
      double x[3] = {};
      for (std::size_t k = 0; k < values.size(); ++k) x[k] = values[k][i];
      double want = wanted_value(use, x);
      if (is_float(use.result)) want = doubles(use.result, stored(use.result, {want}))[0];
      if (near(got[i], want, bound, cases::subnormal(use.result) * 1e-3, use.result)) continue;
      ++wrong;
      ADD_FAILURE() << use.name() << " at " << x[0] << ", " << x[1] << ", " << x[2] << ": got "
                    << got[i] << ", want " << want << ", relative error "
                    << std::abs(got[i] / want - 1) << " of " << bound;
    }
  }
}

TEST(Fused, signs_of_zero_and_edges_of_integers) {
  const auto one = [](std::string_view name, DType dtype, std::vector<double> x) {
    std::vector<DType> operands(x.size(), dtype);
    std::vector<Bytes> inputs;
    for (const double each : x) inputs.push_back(stored(dtype, {each}));
    const auto* each = function(name);
    const DType result = scalar_result(*each, operands, dtype).value();
    return doubles(result, run(single(*each, operands, result, Shape{1}), inputs)[0])[0];
  };
  for (const char* name : {"sign", "sin", "tan", "tanh", "sinh", "asin", "atan", "asinh", "atanh",
                           "expm1", "log1p", "erf", "cbrt", "round", "floor", "ceil"}) {
    EXPECT_TRUE(std::signbit(one(name, DType::f32, {-0.0}))) << name;
    EXPECT_FALSE(std::signbit(one(name, DType::f32, {0.0}))) << name;
  }
  EXPECT_EQ(one("quotient", DType::s32, {-2147483648.0, -1}), -2147483648.0);
  EXPECT_EQ(one("quotient", DType::s64, {-0x1p63, -1}), -0x1p63);
  EXPECT_EQ(one("quotient", DType::u16, {7, 0}), 0);
  EXPECT_EQ(one("remainder", DType::s32, {-7, 2}), -1);
  EXPECT_EQ(one("remainder", DType::s64, {-0x1p63, -1}), 0);
  EXPECT_EQ(one("remainder", DType::s8, {5, 0}), 0);
  EXPECT_EQ(one("abs", DType::s8, {-128}), -128);
  EXPECT_EQ(one("pow", DType::s32, {-1, -3}), -1);
  EXPECT_EQ(one("pow", DType::s32, {2, -3}), 0);
  EXPECT_EQ(one("pow", DType::u8, {3, 6}), 729 % 256);
  EXPECT_EQ(one("left_shift", DType::s32, {1, 32}), 0);
  EXPECT_EQ(one("right_shift", DType::s8, {-5, 100}), -1);
  EXPECT_EQ(one("right_shift", DType::u8, {200, -1}), 0);
  EXPECT_EQ(one("count_leading_zeros", DType::s16, {1}), 15);
  EXPECT_EQ(one("population_count", DType::s64, {-1}), 64);
  EXPECT_TRUE(std::isnan(one("max", DType::f32, {nan, 1})));
  EXPECT_TRUE(std::isnan(one("min", DType::bf16, {1, nan})));
}

/// A strided view of a buffer, what it should read, and a copy of it.
struct View {
  const char* label;
  Shape buffer;
  Shape shape;
  std::int64_t offset;
  Strides strides;
};

const View views[] = {
    {"dense", Shape{6, 7}, Shape{6, 7}, 0, {7, 1}},
    {"scalar", Shape{}, Shape{}, 0, {}},
    {"splat", Shape{}, Shape{33, 65}, 0, {0, 0}},
    {"row", Shape{65}, Shape{33, 65}, 0, {0, 1}},
    {"short_row", Shape{3}, Shape{700, 3}, 0, {0, 1}},
    {"column", Shape{33}, Shape{33, 2050}, 0, {1, 0}},
    {"transposed", Shape{41, 67}, Shape{67, 41}, 0, {1, 67}},
    {"reversed", Shape{3000}, Shape{3000}, 2999, {-1}},
    {"reversed_rows", Shape{50, 30}, Shape{50, 30}, 49 * 30, {-30, 1}},
    {"window", Shape{40, 64}, Shape{20, 32}, 8 * 64 + 16, {64, 1}},
    {"every_third", Shape{3000}, Shape{1000}, 1, {3}},
    {"rank_8",
     Shape{2, 3, 2, 2, 3, 2, 2, 4},
     Shape{2, 3, 2, 2, 3, 2, 2, 4},
     0,
     {1, 2, 6, 12, 24, 72, 144, 288}},
    {"ones", Shape{1, 5}, Shape{1, 5, 1}, 0, {99, 1, -7}},
    {"empty", Shape{4}, Shape{0, 4}, 0, {0, 1}},
};

std::vector<std::int64_t> positions(const View& view) {
  std::vector<std::int64_t> all;
  const auto dense = view.shape.strides();
  for (std::int64_t i = 0; i < view.shape.elements(); ++i) {
    std::int64_t at = view.offset, rest = i;
    for (std::size_t axis = 0; axis < view.shape.rank(); ++axis) {
      at += rest / dense[axis] * view.strides[axis];
      rest %= dense[axis];
    }
    all.push_back(at);
  }
  return all;
}

FusedProgram copy_of(const View& view, DType dtype, bool index) {
  FusedProgram program{
      .shape = view.shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
  program.inputs = {{.spec = {dtype, view.buffer},
                     .offset = view.offset,
                     .strides = view.strides,
                     .index = index}};
  program.code = {{function("copy"), dtype, {0}}};
  program.outputs = {1};
  return program;
}

TEST(Fused, inputs_are_read_however_they_lie) {
  for (const View& view : views)
    for (const DType dtype : rules::all_dtypes()) {
      std::vector<double> values(static_cast<std::size_t>(view.buffer.elements()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 101);
      const Bytes bytes = stored(dtype, values);
      values = doubles(dtype, bytes);
      std::vector<double> want;
      for (const auto at : positions(view)) want.push_back(values[static_cast<std::size_t>(at)]);
      FusedProgram program = copy_of(view, dtype, false);
      EXPECT_EQ(doubles(dtype, run(program, {bytes})[0]), want) << view.label;
      program.outputs = {0, 1, 1};  // also without an instruction, and twice
      for (const Bytes& each : run(program, {bytes}))
        EXPECT_EQ(doubles(dtype, each), want) << view.label;
    }
}

TEST(Fused, an_index_is_its_position) {
  for (const View& view : views)
    for (const DType dtype : rules::numeric_dtypes()) {
      std::vector<double> want;
      for (const auto at : positions(view)) want.push_back(static_cast<double>(at));
      EXPECT_EQ(run(copy_of(view, dtype, true), {})[0], stored(dtype, want)) << view.label;
    }
}

TEST(Fused, large_outputs_of_every_kind_of_store) {
  // From 16 MB on outputs are written past the cache.
  const Shape shape{(9 << 20) + 13};
  for (const DType dtype : {DType::f16, DType::f32, DType::u8}) {
    FusedProgram program{.shape = shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
    Strides strides{};
    strides[0] = 1;
    program.inputs = {
        {.spec = {DType::s32, Shape{}}, .offset = 5, .strides = strides, .index = true}};
    program.constants = {fused_constant<std::int32_t>(127)};
    program.code = {{function("bitwise_and"), DType::s32, {0, 1}},
                    {function("cast"), dtype, {2}},
                    {function("add"), dtype, {3, 3}}};
    program.outputs = {4, 3};
    const auto got = run(program, {});
    const auto twice = doubles(dtype, got[0]);
    const auto once = doubles(dtype, got[1]);
    for (std::size_t i = 0; i < twice.size(); ++i)
      ASSERT_TRUE(once[i] == static_cast<double>((i + 5) % 128) && twice[i] == 2 * once[i]) << i;
  }
}

/// A random program over inputs that lie in every way.
FusedProgram random_program(std::mt19937& random) {
  const auto pick = [&](std::size_t n) { return random() % n; };
  const Shape shape{static_cast<std::int64_t>(1 + pick(9)),
                    static_cast<std::int64_t>(1 + pick(700))};
  FusedProgram program{.shape = shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
  const auto all = rules::all_dtypes();
  for (std::size_t i = 0; i < 4; ++i) {
    auto input = dense(all[pick(all.size())], shape);
    const std::size_t way = pick(4);
    if (way == 1) input.strides = {0, 1};
    if (way == 2) input.strides = {0, 0};
    if (way == 3) input.strides = {shape[1], -1}, input.offset = shape[1] - 1;
    program.inputs.push_back(input);
  }
  program.constants = {fused_constant(1.5F), fused_constant<std::uint8_t>(3)};
  const auto functions = scalar_functions();
  while (program.code.size() < 24) {
    const std::size_t values = program.first_result() + program.code.size();
    FusedProgram::Instruction one{functions[pick(functions.size())], all[pick(all.size())], {}};
    const auto dtypes = program.dtypes();
    std::vector<DType> operands;
    for (std::size_t k = 0; k < one.function->arity; ++k) {
      one.operands[k] = static_cast<FusedProgram::Value>(pick(values));
      operands.push_back(dtypes[one.operands[k]]);
    }
    const auto result = scalar_result(*one.function, operands, one.result);
    if (result.has_error()) continue;
    one.result = *result;
    program.code.push_back(one);
  }
  const std::size_t values = program.first_result() + program.code.size();
  program.outputs = {static_cast<FusedProgram::Value>(values - 1),
                     static_cast<FusedProgram::Value>(values - 1 - pick(8)),
                     static_cast<FusedProgram::Value>(pick(values))};
  return program;
}

/// Whether elements have the same bits, where they are no NaN.
bool same_elements(DType dtype, const Bytes& got, const Bytes& want) {
  if (got == want || !is_float(dtype)) return got == want;
  const auto a = doubles(dtype, got);
  const auto b = doubles(dtype, want);
  const std::size_t bytes = size_of(dtype);
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!(std::isnan(a[i]) && std::isnan(b[i])) &&
        std::memcmp(&got[i * bytes], &want[i * bytes], bytes) != 0)
      return false;
  return got.size() == want.size();
}

/// Expects that the program gives the bits that its instructions give one by one. `draw` gives what the
/// inputs hold.
template <class Draw> void expect_bits_of_instructions(const FusedProgram& program, Draw&& draw) {
  std::vector<Bytes> inputs;
  std::vector<Bytes> values;
  for (const auto& input : program.inputs) {
    std::vector<double> drawn(input.spec.elements());
    for (double& value : drawn) value = draw();
    inputs.push_back(stored(input.spec.dtype, drawn));
    FusedProgram alone{
        .shape = program.shape, .inputs = {input}, .constants = {}, .code = {}, .outputs = {0}};
    values.push_back(run(alone, {inputs.back()})[0]);
  }
  for (const auto& constant : program.constants) {
    FusedProgram alone{
        .shape = program.shape, .inputs = {}, .constants = {constant}, .code = {}, .outputs = {0}};
    values.push_back(run(alone, {})[0]);
  }
  const auto dtypes = program.dtypes();
  for (const auto& one : program.code) {
    std::vector<DType> operands;
    std::vector<Bytes> given;
    for (std::size_t k = 0; k < one.function->arity; ++k) {
      operands.push_back(dtypes[one.operands[k]]);
      given.push_back(values[one.operands[k]]);
    }
    values.push_back(run(single(*one.function, operands, one.result, program.shape), given)[0]);
  }
  const auto got = run(program, inputs);
  for (std::size_t o = 0; o < got.size(); ++o)
    ASSERT_TRUE(same_elements(dtypes[program.outputs[o]], got[o], values[program.outputs[o]]))
        << "output " << o << "\n"
        << program.to_string();
}

TEST(Fused, a_program_gives_the_bits_of_its_instructions_one_by_one) {
  std::mt19937 random{3};
  std::uniform_real_distribution<double> any{-50, 50};
  for (int round = 0; round < 150; ++round) {
    expect_bits_of_instructions(random_program(random), [&] { return any(random); });
    if (HasFatalFailure()) return;
  }
}

TEST(Fused, functions_that_run_together_in_registers_give_the_same_bits) {
  // More of them than are taken at once, of which any may read any, over blocks that are no whole tiles.
  std::mt19937 random{7};
  const auto pick = [&](std::size_t n) { return random() % n; };
  std::uniform_real_distribution<double> any{-3, 3};
  const double edges[] = {0, -0.0, inf, -inf, nan, 1, 0x1p-140, 3e38};
  const char* const functions[] = {"copy", "add", "subtract", "multiply", "divide",
                                   "max",  "min", "negate",   "abs",      "sqrt"};
  for (int round = 0; round < 200; ++round) {
    const DType dtype = round % 4 == 0 ? DType::f16 : DType::f32;
    const Shape shape{static_cast<std::int64_t>(1 + pick(3)),
                      static_cast<std::int64_t>(1 + pick(1500))};
    FusedProgram program{.shape = shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
    for (std::size_t way = 0; way < 4; ++way) {
      auto input = dense(dtype, shape);
      if (way == 1) input.strides = {0, 1};
      if (way == 2) input.strides = {0, 0};
      program.inputs.push_back(input);
    }
    program.constants = {dtype == DType::f32 ? fused_constant(1.5F) : fused_constant(Half{1.5F})};
    const std::size_t length = 1 + pick(50);
    while (program.code.size() < length) {
      const std::size_t values = program.first_result() + program.code.size();
      // The latest values are read most, as in real programs.
      const auto value = [&] {
        return static_cast<FusedProgram::Value>(pick(2) == 0 ? values - 1 - pick(3) : pick(values));
      };
      program.code.push_back({function(functions[pick(std::size(functions))]),
                              dtype,
                              {value(), value(), FusedProgram::Value{0}}});
    }
    const std::size_t values = program.first_result() + program.code.size();
    program.outputs = {static_cast<FusedProgram::Value>(values - 1),
                       static_cast<FusedProgram::Value>(program.first_result() + pick(length))};
    expect_bits_of_instructions(
        program, [&] { return pick(16) == 0 ? edges[pick(std::size(edges))] : any(random); });
    ASSERT_FALSE(HasFatalFailure()) << "round " << round;
  }
}

TEST(Fused, mistakes_are_errors) {
  const Shape shape{2, 3};
  const FusedProgram good = single(*function("add"), {DType::f32, DType::f32}, DType::f32, shape);
  const auto code_of = [&](auto&& change) {
    FusedProgram program = good;
    change(program);
    const auto made = fused_kernel(program);
    return made.has_error() ? made.error().code() : ErrorCode::internal;
  };
  EXPECT_TRUE(fused_kernel(good).has_value());
  EXPECT_EQ(code_of([](auto& p) { p.outputs.clear(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.outputs = {9}; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.code[0].operands[1] = 2; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.code[0].function = nullptr; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.code[0].result = DType::f64; }), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of([](auto& p) { p.inputs[0].spec.dtype = DType::f64; }),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of([](auto& p) { p.inputs[0].offset = 1; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.inputs[0].strides[0] = -3; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.inputs[0].strides[0] = std::int64_t{1} << 62; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&](auto& p) { p.code[0].function = function("bitwise_and"); }),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of([&](auto& p) { p.constants.resize(70000); }), ErrorCode::limit_exceeded);
  const auto unknown = find_scalar_function("subtrct");
  EXPECT_EQ(unknown.error().code(), ErrorCode::not_found);
  EXPECT_EQ(unknown.error().detail("nearest"), "subtract");

  const auto kernel = fused_kernel(good).value();
  const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
  const TensorSpec right{DType::f32, shape};
  const auto check = [&](std::vector<TensorSpec> specs) {
    return kernel->check(specs, params).error().code();
  };
  EXPECT_EQ(check({right}), ErrorCode::arity_mismatch);
  EXPECT_EQ(check({right, {DType::f32, Shape{3, 2}}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(check({right, {DType::s32, shape}}), ErrorCode::dtype_mismatch);
}

TEST(Fused, a_text_tells_programs_apart) {
  const FusedProgram one = single(*function("add"), {DType::f32, DType::f32}, DType::f32, Shape{2});
  FusedProgram other = one;
  EXPECT_EQ(one.hash(), other.hash());
  other.inputs[1].strides[0] = 0;
  EXPECT_NE(one.to_string(), other.to_string());
  EXPECT_NE(one.hash(), other.hash());
  EXPECT_EQ(one.to_string(),
            "fused [2]\nv0: f32 = buffer [2] at 0 by [1]\nv1: f32 = buffer [2] at 0 by [1]\n"
            "v2: f32 = add(v0, v1)\nreturn v2\n");
}

TEST(Fused, shaders_compile_or_say_why_there_is_none) {
  const auto compile = [](const Shader& shader, const ShaderVariant& variant) {
    auto words = compile_glsl(shader, variant);
    EXPECT_TRUE(words.has_value()) << words.error().what() << "\n" << shader.source;
    return words;
  };
  const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
  const auto plan = [&](const FusedProgram& program, bool compiled = true) {
    const auto kernel =
        fused_kernel(program, compiled ? ShaderCompiler{compile} : ShaderCompiler{}).value();
    const auto specs = program.buffers();
    return kernel->gpu(KernelCall{specs, params}, kernel->check(specs, params).value(),
                       GpuTraits{});
  };
  for (const Use& use : all_uses()) {
    // 16-bit integers are written as the 8-bit ones are.
    if (size_of(use.operands.back()) == 2 && !is_float(use.operands.back())) continue;
    // Casts: a row and a column of the square are enough here.
    if (use.function->result == ScalarResult::free && use.result != DType::s8 &&
        use.result != DType::u64 && use.operands[0] != DType::f32)
      continue;
    const auto made = plan(single(*use.function, use.operands, use.result, Shape{64}));
    if (made.has_error()) {
      EXPECT_EQ(made.error().code(), ErrorCode::unsupported) << made.error().what();
      EXPECT_EQ(use.operands.back(), DType::f64) << use.name();
    }
  }
  for (const View& view : views) {
    if (view.shape.empty()) continue;
    for (const bool index : {false, true})
      for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::s8, DType::u64})
        EXPECT_TRUE(plan(copy_of(view, dtype, index)).has_value()) << view.label;
  }
  std::mt19937 random{11};
  for (int round = 0; round < 8; ++round) {
    const auto made = plan(random_program(random));
    EXPECT_TRUE(made.has_value() || made.error().code() == ErrorCode::unsupported);
  }
  const auto without = plan(copy_of(views[0], DType::f32, false), false);
  EXPECT_EQ(without.error().code(), ErrorCode::unsupported);
}

TEST(Fused, contiguous_programs_of_any_size_share_a_shader) {
  const auto name = [](const Shape& shape) {
    const auto program = single(*function("exp"), {DType::f32}, DType::f32, shape);
    return fused_kernel(program).value()->shaders.at(0)->name;
  };
  EXPECT_EQ(name(Shape{7}), name(Shape{3, 1000}));
}

}  // namespace
}  // namespace stoker
