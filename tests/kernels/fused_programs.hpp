// Programs that the tests of fused programs share.
#pragma once

#include <numeric>
#include <random>

#include "fused_fixture.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::fused_test {

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

inline std::vector<Use> all_uses() {
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

/// A strided view of a buffer, what it should read, and a copy of it.
struct View {
  const char* label;
  Shape buffer;
  Shape shape;
  std::int64_t offset;
  Strides strides;
};

inline const View views[] = {
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

inline std::vector<std::int64_t> positions(const View& view) {
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

inline FusedProgram copy_of(const View& view, DType dtype, bool index) {
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

/// A random program over inputs that lie in every way.
inline FusedProgram random_program(std::mt19937& random) {
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

}  // namespace stoker::fused_test
