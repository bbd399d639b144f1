// Kernels that are named by their structs of options, on devices and in pipelines.
#include <gtest/gtest.h>

#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/tests/runtime/base/error_of.hpp"

namespace stoker {
namespace {

class TypedCalls : public testing::Test {
 protected:
  System system;
  Device device = system.device("cpu");
  Buffer x = device.buffer({-1.0F, 2.0F, 3.0F});
  Buffer y = device.buffer(DType::f32, Shape{3});
};

std::vector<float> values_of(const Buffer& buffer) { return buffer.read<float>().get(); }

TEST_F(TypedCalls, run_into_a_new_buffer) {
  const Buffer sum = device.run(kernels::CumulativeSum{.reverse = true}, {x});
  EXPECT_EQ(values_of(sum), (std::vector<float>{4, 5, 3}));
  const std::vector<Buffer> inputs{x};
  EXPECT_EQ(values_of(device.run(kernels::Relu{}, inputs)), (std::vector<float>{0, 2, 3}));
}

TEST_F(TypedCalls, run_into_an_existing_buffer) {
  const Command sorted =
      device.submit(kernels::Sort{.direction = kernels::SortDirection::descending}, {x}, y);
  EXPECT_EQ(sorted.kernel(), "sort");
  EXPECT_EQ(values_of(y), (std::vector<float>{3, 2, -1}));
}

TEST_F(TypedCalls, say_the_same_as_names_and_parameters) {
  const Buffer photo = device.buffer(std::vector<float>(48, 0.5F), Shape{4, 4, 3});
  EXPECT_EQ(values_of(device.run(kernels::GaussianBlur{.radius = 2, .sigma = 1.5}, {photo})),
            values_of(device.run("gaussian_blur", {photo}, {{"radius", 2}, {"sigma", 1.5}})));
  EXPECT_EQ(error_of([&] {
              static_cast<void>(device.run(kernels::GaussianBlur{.radius = -1}, {photo}));
            }).reason(),
            error_of([&] {
              static_cast<void>(device.run("gaussian_blur", {photo}, {{"radius", -1}}));
            }).reason());
}

TEST_F(TypedCalls, share_the_executable_of_the_text_form) {
  static_cast<void>(device.warm_up(kernels::CumulativeSum{.axis = 0}, std::vector{x.spec()}));
  const std::size_t known = device.stats().executables;
  static_cast<void>(device.run("cumulative_sum", {x}, {{"axis", 0}}));
  EXPECT_EQ(device.stats().executables, known);
}

TEST_F(TypedCalls, take_the_options_of_a_command) {
  const CancelSource source;
  source.cancel(cancelled_error("test"));
  const CommandOptions options{.cancel = source.token()};
  EXPECT_EQ(device.submit(kernels::Relu{}, {x}, y, options).wait().error().code(),
            ErrorCode::cancelled);
  const Buffer never = device.run(kernels::Relu{}, {x}, options);
  EXPECT_EQ(error_of([&] { values_of(never); }).code(), ErrorCode::cancelled);
}

TEST_F(TypedCalls, are_submitted_together) {
  const Buffer k = device.buffer(DType::f32, Shape{2});
  const Buffer at = device.buffer(DType::s32, Shape{2});
  const std::vector calls{KernelCallRequest::of(kernels::TopK{.k = 2}, {x}, {k, at}),
                          KernelCallRequest::of(kernels::Negate{}, {x}, {y})};
  device.submit(calls);
  EXPECT_EQ(values_of(k), (std::vector<float>{3, 2}));
  EXPECT_EQ(at.read<std::int32_t>().get(), (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(values_of(y), (std::vector<float>{1, -2, -3}));
}

TEST_F(TypedCalls, are_stages_of_a_pipeline) {
  Pipeline pipeline = system.pipeline(device);
  pipeline.add(kernels::Reshape{.shape = {3, 1}}, {x}, "column");
  pipeline.add(kernels::Matmul{.transpose_b = true}, {"column", "column"}, "products");
  pipeline.add(kernels::ReduceSum{}, {"products"}, device.buffer(DType::f32, Shape{}));
  pipeline.add(PipelineStage::of(kernels::TopK{.k = 1}, {x}, {"most", "place"}));
  pipeline.add(kernels::Cast{.dtype = DType::s64}, {"place"}, "wide");
  pipeline.output("most").output("wide").output("products");
  EXPECT_EQ(pipeline.spec_of("products"), (TensorSpec{DType::f32, {3, 3}}));
  EXPECT_EQ(pipeline.spec_of("wide"), (TensorSpec{DType::s64, {1}}));
  EXPECT_EQ(pipeline.size(), 5U);
}

TEST_F(TypedCalls, refuse_in_a_pipeline_what_the_text_form_refuses) {
  Pipeline pipeline = system.pipeline(device);
  const Error error = error_of([&] { pipeline.add(kernels::TopK{.k = 0}, {x}, "most"); });
  EXPECT_EQ(error.op(), "top_k");
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(pipeline.size(), 0U);
}

// A program's own kernel.
struct Parabola {
  static constexpr KernelName kind{"parabola"};
  double a = 1;
  std::int64_t times = 1;
};
template <class V> void visit_options(Parabola& o, V&& visit) {
  visit("a", o.a, anything, "factor of x squared");
  visit("times", o.times, within(1, 9), "how often");
}

TEST_F(TypedCalls, name_a_kernel_of_the_program_by_its_own_struct) {
  system.add_kernel({.name = std::string{Parabola::kind},
                     .params = options::specs<Parabola>(),
                     .cpu = [](const CppCall& call, std::size_t begin, std::size_t end) {
                       const auto given = options::from<Parabola>(call.params());
                       for (std::size_t i = begin; i < end; ++i) {
                         const double value = call.in<float>()[i];
                         call.out<float>()[i] = static_cast<float>(
                             given.a * value * value * static_cast<double>(given.times));
                       }
                     }});
  EXPECT_EQ(values_of(device.run(Parabola{.a = 0.5, .times = 2}, {x})),
            (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(error_of([&] {
              static_cast<void>(device.run(Parabola{.times = 10}, {x}));
            }).detail("expected"),
            "integer from 1 to 9");
}

TEST_F(TypedCalls, of_a_kernel_that_is_not_there_say_so) {
  EXPECT_EQ(error_of([&] { static_cast<void>(device.run(Parabola{}, {x})); }).code(),
            ErrorCode::unknown_kernel);
}

}  // namespace
}  // namespace stoker

// A program that opens both namespaces has the functions on tensors, by their names, as well.
namespace program {

using namespace stoker;           // NOLINT(google-build-using-namespace)
using namespace stoker::kernels;  // NOLINT(google-build-using-namespace)

template <class T>
concept functions_are_found = requires(const T& x) {
  { sort(x) } -> std::same_as<Tensor>;
  { softmax(x, 0) } -> std::same_as<Tensor>;
};
static_assert(functions_are_found<Tensor>);
static_assert(
    std::same_as<decltype(matmul(std::declval<Tensor>(), std::declval<Tensor>())), Tensor>);
static_assert(std::same_as<TieBreak, stoker::TieBreak>);
static_assert(TypedKernel<Sort> && TypedKernel<Matmul>);

}  // namespace program
