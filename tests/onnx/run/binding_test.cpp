// Inputs and outputs that are bound once.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class Bindings : public OnnxTest {
 protected:
  [[nodiscard]] Model running_sum() const {
    return GraphBuilder{}
        .input("x", {"n"})
        .constant("axis", integers({0}))
        .node("CumSum", {"x", "axis"}, {"y"})
        .output("y")
        .load(here());
  }
  static std::vector<float> read(const Buffer& buffer) { return buffer.read<float>().get(); }
};

TEST_F(Bindings, runs_read_and_write_the_memory_that_was_bound) {
  const Buffer in = device_.buffer({1.0F, 2.0F, 3.0F});
  const Buffer out = device_.buffer(DType::f32, Shape{3});
  const Binding binding = running_sum().bind({{"x", Tensor{in}}}, {{"y", out}});
  binding.run().get();
  EXPECT_EQ(read(out), (std::vector<float>{1, 3, 6}));
  in.write(std::vector<float>{5, 5, 5});
  const Future<> second = binding.run();
  EXPECT_EQ(read(out), (std::vector<float>{5, 10, 15})) << "buffers keep the order";
  EXPECT_TRUE(second.wait().has_value());
}

TEST_F(Bindings, memory_of_the_program_is_read_and_written_in_place) {
  struct alignas(64) Memory {
    std::array<float, 16> x = {1, 1, 1, 1}, y = {};
  };
  const auto memory = std::make_shared<Memory>();
  const TensorSpec spec{DType::f32, Shape{16}};
  const Buffer in = device_.adopt(spec, std::as_writable_bytes(std::span{memory->x}), memory);
  const Buffer out = device_.adopt(spec, std::as_writable_bytes(std::span{memory->y}), memory);
  const Binding binding = running_sum().bind({{"x", Tensor{in}}}, {{"y", out}});
  for (const float first : {1.0F, 7.0F}) {
    memory->x[0] = first;
    binding.run().get();
    EXPECT_EQ(memory->y[15], first + 3);
  }
}

TEST_F(Bindings, an_output_that_is_not_bound_gets_a_buffer) {
  const Binding binding = running_sum().bind({{"x", ones({2})}});
  binding.run().get();
  EXPECT_EQ(read(binding.outputs().at("y")), (std::vector<float>{1, 2}));
}

TEST_F(Bindings, outputs_that_no_kernel_writes_are_copied) {
  const Model model = GraphBuilder{}
                          .input("x", {2})
                          .constant("k", reals({7, 8}))
                          .node("Identity", {"x"}, {"same"})
                          .node("Identity", {"k"}, {"constant"})
                          .node("Exp", {"x"}, {"e"})
                          .node("Identity", {"e"}, {"again"})
                          .output("same")
                          .output("constant")
                          .output("e")
                          .output("again")
                          .load(here());
  const Buffer in = device_.buffer({1.0F, 2.0F});
  const Binding binding = model.bind({{"x", Tensor{in}}});
  for (const std::vector<float>& x : {std::vector<float>{0, 0}, std::vector<float>{3, 4}}) {
    in.write(x);
    binding.run().get();
    EXPECT_EQ(read(binding.outputs().at("same")), x);
    EXPECT_EQ(read(binding.outputs().at("constant")), (std::vector<float>{7, 8}));
    EXPECT_EQ(read(binding.outputs().at("e")), read(binding.outputs().at("again")));
    EXPECT_NEAR(read(binding.outputs().at("again"))[1], std::exp(x[1]), 1e-4);
  }
}

TEST_F(Bindings, what_cannot_be_bound_is_refused) {
  const Model model = running_sum();
  const Buffer in = device_.buffer({1.0F, 2.0F, 3.0F});
  const NamedValues x{{"x", Tensor{in}}};
  const auto code_of = [&](const NamedBuffers& outputs) {
    return refusal([&] { (void)model.bind(x, outputs); }).code();
  };
  EXPECT_EQ(code_of({{"z", in}}), ErrorCode::not_found);
  EXPECT_EQ(code_of({{"y", in}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({{"y", Buffer{}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({{"y", device_.buffer(DType::f32, Shape{4})}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of({{"y", device_.buffer(DType::s32, Shape{3})}}), ErrorCode::dtype_mismatch);
  const Device other = system_.device("null");
  EXPECT_EQ(code_of({{"y", other.buffer(DType::f32, Shape{3})}}), ErrorCode::wrong_device);
}

TEST_F(Bindings, a_plan_that_is_cut_is_refused_with_the_node) {
  const Model model =
      GraphBuilder{}.input("x", {"n"}).node("NonZero", {"x"}, {"y"}).output("y").load(here());
  const Error error = refusal([&] { (void)model.bind({{"x", ones({3})}}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.detail("node"), "the node of 'y' (NonZero)");
}

}  // namespace
}  // namespace stoker::onnx
