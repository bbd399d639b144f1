// Fusing changes no bit: a program gives on the CPU what its instructions give one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "fused_programs.hpp"

namespace stoker {
namespace {

using namespace fused_test;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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

}  // namespace
}  // namespace stoker
