// Waiting for tensors without blocking, and many of them at once.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "stoker/api/tensor/core/async.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/tests/tensor/io/files_fixture.hpp"

namespace stoker {
namespace {

using Async = Files;

TEST_P(Async, a_tensor_says_when_it_is_computed) {
  const Tensor x = sum(sin(iota({1000}, DType::f32)));
  x.computed().get();
  EXPECT_TRUE(x.evaluated());
  zeros({0, 3}).computed().get();
}

TEST_P(Async, a_handler_hears_of_the_end) {
  boost::asio::io_context loop;
  int heard = 0;
  const Tensor x = exp(iota({100}, DType::f32) / 100);
  const Tensor y = x * 2;
  const auto handler = [&] {
    return boost::asio::bind_executor(loop, [&](const Result<void>& outcome) {
      EXPECT_TRUE(outcome.has_value());
      ++heard;
    });
  };
  async_eval(x, handler());
  async_eval({x, y}, handler());
  async_eval(std::vector<Tensor>{}, handler());
  loop.run();
  EXPECT_EQ(heard, 3);
}

TEST_P(Async, a_coroutine_waits_without_a_thread) {
  boost::asio::io_context loop;
  std::vector<float> seen;
  const auto program = [&]() -> boost::asio::awaitable<void> {
    const Tensor x = iota({3}, DType::f32) + 1;
    const Tensor y = x * x;
    (co_await async_eval(std::pair{x, y}, boost::asio::use_awaitable)).value();
    co_await async_get(y.computed());
    seen = co_await async_get(y.read<float>());
  };
  boost::asio::co_spawn(loop, program,
                        [](const std::exception_ptr& failure) { EXPECT_EQ(failure, nullptr); });
  loop.run();
  EXPECT_EQ(seen, (std::vector{1.0F, 4.0F, 9.0F}));
}

TEST_P(Async, failures_reach_whoever_waits) {
  const Tensor x = iota({4}, DType::f32) + 1;
  x.eval();
  x.buffer().release();
  EXPECT_EQ(error_of([&] { return x.computed(); }).code(), ErrorCode::released);
  EXPECT_EQ(error_of([] { return computed({Tensor{}}); }).code(), ErrorCode::invalid_argument);
  const Tensor y = iota({4}, DType::f32) + 2;
  const Future<> done = y.computed();
  system.stop();
  const Result<void>& outcome = done.wait();  // done, or refused: never left hanging
  EXPECT_TRUE(outcome.has_value() || outcome.error().code() == ErrorCode::closed);
}

TEST_P(Async, many_are_read_with_one_wait) {
  const Tensor x = iota({3}, DType::s32);
  const auto all = read_all<int>({x, x + 1, zeros({0}, DType::s32)}).get();
  EXPECT_EQ(all, (std::vector<std::vector<int>>{{0, 1, 2}, {1, 2, 3}, {}}));
  EXPECT_EQ(error_of([&] { return read_all<float>({x}); }).code(), ErrorCode::dtype_mismatch);
}

TEST_P(Async, structures_move_between_devices) {
  const Device cpu = system.device("cpu");
  const Device other = system.device("vulkan");
  const std::map<std::string, Tensor> all{
      {"a", iota({3}, DType::s32) + 1}, {"b", ones({2, 2})}, {"none", zeros({0})}};
  const auto there = to_device(all, other);
  const auto back = to_device(there, cpu);
  for (const auto& [name, tensor] : back) {
    EXPECT_EQ(there.at(name).buffer().device(), other);
    EXPECT_EQ(tensor.buffer().device(), cpu);
    expect_same(tensor, all.at(name));
  }
  // Those of several devices gather on one.
  const auto [p, q] = to_device(std::pair{there.at("a") + 1, back.at("a") + 2}, cpu);
  expect_values<int>(p, {3}, {2, 3, 4});
  expect_values<int>(q, {3}, {3, 4, 5});
}

INSTANTIATE_TEST_SUITE_P(Devices, Async, every_device(), device_name);

}  // namespace
}  // namespace stoker
