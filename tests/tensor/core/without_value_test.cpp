// Tensors that were made without a value, were moved from, or have outlived their system.
#include <array>
#include <functional>

#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

/// What the call says of a tensor that has no value.
void expect_refused(const char* what, const std::function<void()>& call) {
  SCOPED_TRACE(what);
  const Error refused = error_of([&] { return call(), 0; });
  EXPECT_EQ(refused.code(), ErrorCode::invalid_argument) << refused.what();
  EXPECT_NE(refused.reason().find("expected a tensor that has a value"), std::string::npos)
      << refused.what();
}

using WithoutValue = Tensors;

TEST_F(WithoutValue, a_tensor_is_no_operand) {
  const Tensor none;
  EXPECT_FALSE(none.has_value());
  expect_refused("a function", [&] { return void(exp(none)); });
  expect_refused("the left operand", [&] { return void(none + 1); });
  expect_refused("the right operand", [&] { return void(2 * none); });
  expect_refused("a limit", [&] { return void(clip(ones({3}), none, 1)); });
  expect_refused("a choice", [&] { return void(select(ones({2}), none, 2)); });
  expect_refused("a reduction", [&] { return void(sum(none)); });
  expect_refused("a product", [&] { return void(matmul(none, ones({2, 2}))); });
  expect_refused("a part", [&] { return void(none[0]); });
  expect_refused("one of several", [&] { return void(stack({ones({1}), none})); });
}

TEST_F(WithoutValue, a_tensor_is_not_read) {
  const Tensor none;
  expect_refused("its shape", [&] { return void(none.shape()); });
  expect_refused("eval", [&] { return void(none.eval()); });
  expect_refused("several", [&] { eval({ones({1}), none}); });
  expect_refused("its elements", [&] { return void(none.to_vector<float>()); });
  expect_refused("its end", [&] { return void(none.computed()); });
  expect_refused("its graph", [&] { return void(graph_text(std::array{none})); });
}

TEST_F(WithoutValue, a_tensor_is_nothing_to_trace) {
  const Tensor none;
  const auto forgets = [](const Tensor&) { return Tensor{}; };
  const auto total = [](const Tensor& x) { return sum(x); };
  expect_refused("grad of it", [&] { return void(grad(total)(none)); });
  expect_refused("a gradient's function", [&] { return void(grad(forgets)(ones({2}))); });
  expect_refused("jit of it", [&] { return void(jit(total)(none)); });
  expect_refused("a traced function", [&] { return void(jit(forgets)(ones({2}))); });
  expect_refused("vmap of it", [&] { return void(vmap(total)(none)); });
  expect_refused("a mapped function", [&] { return void(vmap(forgets)(ones({2}))); });
}

TEST_F(WithoutValue, a_tensor_is_no_answer_of_the_programs) {
  const auto forgets = [](const std::vector<Tensor>&) { return Tensor{}; };
  const TensorSpec spec{DType::f32, Shape{1}};
  expect_refused("a result",
                 [&] { return void(host_call(spec, forgets, {ones({1})}).to_vector<float>()); });
  expect_refused("an input", [&] { return void(host_call(spec, forgets, {Tensor{}})); });
  expect_refused("what a hook looks at",
                 [&] { return void(hook(Tensor{}, [](const Tensor&) {})); });
}

TEST_F(WithoutValue, a_tensor_is_left_behind_by_a_move) {
  std::vector<Tensor> several{ones({2})};
  const Tensor y = std::move(several[0]);
  Tensor& x = several[0];
  expect_refused("the source", [&] { return void(x + 1); });
  x = y * 2;
  expect_values<float>(x, {2}, {2, 2});
}

TEST(TensorsWithoutSystem, say_that_it_was_stopped) {
  Tensor stored;
  Tensor lazy;
  {
    const System system;
    const DeviceScope scope{system.device("cpu")};
    stored = tensor({1.0, 2.0});
    stored.eval();
    lazy = exp(stored);
  }
  for (const Tensor& x : {stored, lazy, stored + 1}) {
    const Error refused = error_of([&] { return x.to_vector<float>(); });
    EXPECT_EQ(refused.code(), ErrorCode::closed);
    EXPECT_EQ(refused.reason(), "the system was stopped") << refused.what();
    EXPECT_NE(std::string{refused.what()}.find("cpu"), std::string::npos) << refused.what();
  }
}

TEST_F(WithoutValue, empty_buffers_and_devices_are_refused) {
  EXPECT_EQ(Device{}, Device{});
  EXPECT_NE(Device{}, current_device());
  const auto refused = [](auto call) {
    return error_of([&] { return call(), 0; }).code() == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused([] { const Tensor made{Buffer{}}; }));
  EXPECT_TRUE(refused([] { const DeviceScope scope{Device{}}; }));
  EXPECT_TRUE(refused([] { static_cast<void>(ones({2}).to(Device{})); }));
  const auto f = jit([](const Tensor& x) { return x + 1; });
  EXPECT_TRUE(refused([&] { static_cast<void>(f.compile(Device{}, ones({2}))); }));
}

}  // namespace
}  // namespace stoker
