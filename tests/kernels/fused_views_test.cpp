// Every way the inputs of a fused program can lie, and every kind of store, on the CPU.
#include <gtest/gtest.h>

#include "fused_programs.hpp"

namespace stoker {
namespace {

using namespace fused_test;

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

}  // namespace
}  // namespace stoker
