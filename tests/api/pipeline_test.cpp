#include <gtest/gtest.h>

#include <thread>

#include "stoker/api/stoker.hpp"
#include "stoker/device/memory/buffer_state.hpp"
#include "stoker/tests/runtime/base/error_of.hpp"

namespace stoker {
namespace {

class Pipelines : public testing::TestWithParam<const char*> {
 protected:
  System system;
  Device device = system.device(GetParam());
};

TEST_P(Pipelines, run_stages_in_the_order_of_their_dependencies) {
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("x", {DType::f32, {4}});
  pipeline.add("add", {"twice", "x"}, "thrice");  // added before what it needs
  pipeline.add("add", {"x", "x"}, "twice");
  pipeline.output("thrice");
  const Buffer x = device.buffer({1.0F, 2.0F, 3.0F, 4.0F});
  const Buffer result = device.buffer(pipeline.spec_of("thrice"));
  pipeline.run({{"x", x}, {"thrice", result}}).get();
  EXPECT_EQ(result.read<float>().get(), (std::vector<float>{3, 6, 9, 12}));
  EXPECT_EQ(pipeline.order(), (std::vector<std::string>{"add", "add"}));
}

TEST_P(Pipelines, accept_the_text_form_and_bound_buffers) {
  const Buffer x = device.buffer({-1.0F, 2.0F});
  const Buffer y = device.buffer(DType::f32, Shape{2});
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("relu", {x}, "positive");
  pipeline.add("reshape:positive:row?shape=[1,2]");
  pipeline.add("reshape", {"row"}, y, {{"shape", {2}}});
  pipeline.run().get();
  EXPECT_EQ(y.read<float>().get(), (std::vector<float>{0, 2}));
}

TEST_P(Pipelines, run_again_and_see_new_contents) {
  const Buffer x = device.buffer({1.0F});
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("add", {x, x}, "sum");
  pipeline.add("copy", {"sum"}, x);
  for (int i = 0; i < 10; ++i) pipeline.run();
  EXPECT_EQ(x.read<float>().get(), (std::vector<float>{1024}));
}

TEST_P(Pipelines, record_once_and_replay) {
  const Buffer x = device.buffer({1.0F});
  const Buffer y = device.buffer({0.0F});
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("relu", {x}, "a");
  pipeline.add("neg", {"a"}, y);
  pipeline.run().get();
  const auto before = device.stats().backend.recordings;
  for (int i = 0; i < 5; ++i) pipeline.run().get();
  EXPECT_EQ(device.stats().backend.recordings, before);
}

TEST_P(Pipelines, run_concurrently_with_intermediates_of_their_own) {
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("x", {DType::f32, {1000}});
  pipeline.add("add", {"x", "x"}, "a");
  pipeline.add("multiply", {"a", "a"}, "y");
  pipeline.output("y");
  pipeline.compile();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const auto value = static_cast<float>(t * 10 + i);
        const Buffer x = device.buffer(std::vector<float>(1000, value));
        const Buffer y = device.buffer(DType::f32, Shape{1000});
        pipeline.run({{"x", x}, {"y", y}});
        EXPECT_EQ(y.read<float>().get(), std::vector<float>(1000, 4 * value * value));
      }
    });
}

TEST_P(Pipelines, share_the_memory_of_values_that_do_not_live_together) {
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("v0", {DType::f32, {1, 4096}});
  for (int i = 0; i < 10; ++i)
    pipeline.add("transpose", {"v" + std::to_string(i)}, "v" + std::to_string(i + 1),
                 {{"axes", {1, 0}}});
  pipeline.output("v10");
  const auto [shared, unshared] = pipeline.arena_bytes();
  EXPECT_EQ(unshared, 9U * 4096 * 4);
  EXPECT_EQ(shared, 2U * 4096 * 4);
}

TEST_P(Pipelines, refuse_what_cannot_run_before_anything_runs) {
  const Buffer x = device.buffer({1.0F, 2.0F});
  Pipeline pipeline = system.pipeline(device);
  EXPECT_EQ(error_of([&] { pipeline.add("no_such", {x}, "y"); }).code(), ErrorCode::unknown_kernel);
  EXPECT_EQ(error_of([&] { pipeline.add("relu", {x, x}, "y"); }).code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(error_of([&] {
              pipeline.add("softmax", {x}, "y", {{"axes", 1}});
            }).code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { pipeline.add("relu", {x}, ""); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { pipeline.add("relu:a"); }).code(), ErrorCode::invalid_argument);
  const Buffer elsewhere = system.device("null").buffer({1.0F});
  EXPECT_EQ(error_of([&] { pipeline.add("relu", {elsewhere}, "y"); }).code(),
            ErrorCode::wrong_device);
  const Buffer gone = device.buffer({1.0F});
  gone.release();
  EXPECT_EQ(error_of([&] { pipeline.add("relu", {gone}, "y"); }).code(), ErrorCode::released);
  EXPECT_EQ(pipeline.size(), 0U);
}

TEST_P(Pipelines, are_as_they_were_after_a_stage_was_refused) {
  const Buffer a = device.buffer({10.0F, 20.0F});
  const Buffer b = device.buffer({1.0F, 2.0F});
  const Buffer out = device.buffer({0.0F, 0.0F});
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("subtract", {a, b}, "difference");
  pipeline.output("difference");
  pipeline.run({{"difference", out}}).get();
  for (int i = 0; i < 3; ++i) {
    // What it names goes with it, buffers and values.
    EXPECT_EQ(
        error_of([&] {
          pipeline.add("subtract", {device.buffer({7.0F}), device.buffer({8.0F}), "later"}, "more");
        }).code(),
        ErrorCode::arity_mismatch);
    out.write(std::vector<float>{0, 0});
    pipeline.run({{"difference", out}}).get();
    EXPECT_EQ(out.read<float>().get(), (std::vector<float>{9, 18}));
  }
  EXPECT_EQ(pipeline.size(), 1U);
  pipeline.input("later", {DType::f32, {2}});  // nobody has mentioned it
}

TEST_P(Pipelines, keep_the_names_of_buffers_to_themselves) {
  const Buffer x = device.buffer({1.0F, 2.0F});
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("relu", {x}, "y");
  pipeline.output("y");
  const std::string own = "buffer#" + std::to_string(x.handle().state()->id);
  EXPECT_EQ(error_of([&] { pipeline.add("relu", {own}, "z"); }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { pipeline.input(own, x.spec()); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { pipeline.input("", x.spec()); }).code(), ErrorCode::invalid_argument);
  const Buffer y = device.buffer({0.0F, 0.0F});
  EXPECT_EQ(error_of([&] {
              pipeline.run({{"y", y}, {own, y}});
            }).code(),
            ErrorCode::not_found)
      << "it is not an input";
}

TEST_P(Pipelines, refuse_a_cycle_and_name_it) {
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("relu", {"a"}, "b");
  pipeline.add("relu", {"b"}, "a");
  const Error error = error_of([&] { pipeline.run(); });
  EXPECT_EQ(error.code(), ErrorCode::cycle);
  EXPECT_EQ(error.detail("values"), "b, a");
}

TEST_P(Pipelines, refuse_values_nobody_writes_or_that_two_stages_write) {
  const Buffer x = device.buffer({1.0F});
  Pipeline missing = system.pipeline(device);
  missing.add("relu", {"nowhere"}, x);
  EXPECT_EQ(error_of([&] { missing.run(); }).code(), ErrorCode::not_found);
  Pipeline twice = system.pipeline(device);
  twice.add("relu", {x}, "y").add("neg", {x}, "y");
  EXPECT_EQ(error_of([&] { twice.run(); }).code(), ErrorCode::invalid_argument);
}

TEST_P(Pipelines, name_the_stage_whose_shapes_or_dtypes_do_not_fit) {
  const Buffer a = device.buffer(std::vector<float>(12), Shape{3, 4});
  const Buffer b = device.buffer(std::vector<float>(30), Shape{5, 6});
  Pipeline shapes = system.pipeline(device);
  shapes.add("relu", {a}, "x").add("matmul", {"x", b}, "y");
  const Error error = error_of([&] { shapes.run(); });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.detail("stage"), "1");
  const Buffer ints = device.buffer({1, 2, 3});
  Pipeline dtypes = system.pipeline(device);
  dtypes.add("add", {a, ints}, "y");
  EXPECT_EQ(error_of([&] { dtypes.run(); }).code(), ErrorCode::dtype_mismatch);
}

TEST_P(Pipelines, refuse_bindings_that_do_not_fit) {
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("x", {DType::f32, {2}});
  pipeline.add("relu", {"x"}, "y");
  pipeline.output("y");
  const Buffer x = device.buffer({1.0F, 2.0F});
  const Buffer y = device.buffer({0.0F, 0.0F});
  const auto code = [&](Bindings bindings) {
    return error_of([&] { pipeline.run(bindings); }).code();
  };
  EXPECT_EQ(code({{"x", x}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"x", x}, {"y", y}, {"z", y}}), ErrorCode::not_found);
  EXPECT_EQ(code({{"x", x}, {"y", device.buffer({1.0F})}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({{"x", x}, {"y", device.buffer({1, 2})}}), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code({{"x", x}, {"y", x}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"x", x}, {"y", system.device("null").buffer({1.0F, 2.0F})}}),
            ErrorCode::wrong_device);
}

TEST_P(Pipelines, are_refused_without_a_device) {
  EXPECT_EQ(error_of([&] { static_cast<void>(system.pipeline(Device{})); }).code(),
            ErrorCode::invalid_argument);
}

TEST_P(Pipelines, without_stages_complete) {
  Pipeline pipeline = system.pipeline(device);
  EXPECT_TRUE(pipeline.run().wait());
}

INSTANTIATE_TEST_SUITE_P(Devices, Pipelines, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
