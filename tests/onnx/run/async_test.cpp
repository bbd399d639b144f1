// Models in an Asio program: runs and loading as completion tokens.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "stoker/api/onnx_async.hpp"
#include "stoker/tests/onnx/reading/message.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using boost::asio::use_awaitable;

class OnnxAsync : public OnnxTest {
 protected:
  ~OnnxAsync() override { std::filesystem::remove(path); }
  /// y = op(x) in a file.
  void write(const char* op, const char* domain = "") const {
    std::ofstream{path, std::ios::binary}
        << model(graph(node(op, {"x"}, {"y"}, {}, domain), {"x"}, {"y"}))
               .message(8, opset("test", 1))
               .bytes();
  }
  template <class Coroutine> void run(Coroutine coroutine) {
    std::exception_ptr failure;
    boost::asio::co_spawn(loop, std::move(coroutine),
                          [&](std::exception_ptr why) { failure = why; });
    loop.run();
    if (failure) std::rethrow_exception(failure);
  }

  boost::asio::io_context loop;
  std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("stoker_onnx_async_" + std::to_string(getpid()) + "_" +
       testing::UnitTest::GetInstance()->current_test_info()->name() + ".onnx");
};

TEST_F(OnnxAsync, a_coroutine_loads_and_runs_a_model) {
  write("Abs");
  std::vector<float> y;
  run([&]() -> boost::asio::awaitable<void> {
    const Model model = co_await async_load(system_, path, use_awaitable, here());
    const NamedValues inputs{{"x", tensor({1.0, -2.0})}};
    const NamedValues out = co_await model.async_run(inputs, use_awaitable);
    y = co_await async_get(out.at("y").tensor().read<float>());
  });
  EXPECT_EQ(y, (std::vector<float>{1, 2}));
}

TEST_F(OnnxAsync, what_fails_in_a_run_is_thrown_where_it_is_awaited) {
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("shape", integers({2, 2}))
                          .node("Reshape", {"x", "shape"}, {"y"})
                          .output("y")
                          .load(here());
  const Error error = refusal([&] {
    run([&]() -> boost::asio::awaitable<void> {
      const NamedValues inputs{{"x", ones({3})}};
      (void)co_await model.async_run(inputs, use_awaitable);
    });
  });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
}

TEST_F(OnnxAsync, takes_a_handler_or_gives_a_future) {
  const Model model =
      GraphBuilder{}.input("x", {2}).node("Neg", {"x"}, {"y"}).output("y").load(here());
  const NamedValues inputs{{"x", tensor({1.0, -2.0})}};
  EXPECT_EQ(floats(model.async_run(inputs, boost::asio::use_future).get(), "y"),
            (std::vector<float>{-1, 2}));
  std::vector<float> y;
  model.async_run(inputs, boost::asio::bind_executor(
                              loop, [&](const std::exception_ptr&, const NamedValues& out) {
                                y = floats(out, "y");
                              }));
  loop.run();
  EXPECT_EQ(y, (std::vector<float>{-1, 2}));
}

TEST_F(OnnxAsync, loading_is_done_on_another_thread_with_the_operators_of_the_call) {
  write("Twice", "test");
  std::thread::id loaded_on;
  Future<Model> loading;
  {
    OperatorTable table = OperatorTable::standard();
    table.add({.name = "Twice",
               .domain = "test",
               .refuse =
                   [&](const Node&, int) {
                     loaded_on = std::this_thread::get_id();
                     return std::string{};
                   },
               .lower = [](Call& call) { return Values{call.like(call.x() * 2)}; }});
    LoadOptions options = here();
    options.operators = &table;
    loading = load(system_, path, options);
  }
  const Model model = loading.get();
  EXPECT_NE(loaded_on, std::this_thread::get_id());
  EXPECT_EQ(floats(model.run({{"x", tensor({1.0, -2.0})}}).get(), "y"),
            (std::vector<float>{2, -4}));
}

TEST_F(OnnxAsync, what_is_wrong_with_a_file_is_in_the_future_of_loading_it) {
  const Future<Model> loading = load(system_, path.string() + ".missing");
  EXPECT_EQ(refusal([&] { (void)loading.get(); }).code(), ErrorCode::not_found);
}

TEST_F(OnnxAsync, a_descriptor_may_be_closed_when_its_model_was_loaded) {
  write("Neg");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  const Model model = load(descriptor, here());
  ::close(descriptor);
  EXPECT_EQ(floats(model.run({{"x", tensor({1.0, -2.0})}}).get(), "y"),
            (std::vector<float>{-1, 2}));
  EXPECT_EQ(refusal([&] { (void)load(-1, here()); }).code(), ErrorCode::io_error);
}

TEST_F(OnnxAsync, a_model_that_was_not_loaded_is_an_empty_handle) {
  EXPECT_FALSE(Model{});
  EXPECT_TRUE(GraphBuilder{}.input("x", {2}).output("x").load(here()));
}

}  // namespace
}  // namespace stoker::onnx
