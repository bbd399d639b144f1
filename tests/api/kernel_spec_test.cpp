// Kernels of the program's own, in one definition.
#include <gtest/gtest.h>

#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

/// y = a·x² + b.
KernelSpec parabola() {
  return {.name = "parabola",
          .inputs = {{"x"}},
          .params = {{"a", ParamType::real, 1.0, "factor of x squared"},
                     {"b", ParamType::real, 0.0, "added at the end"}},
          .glsl = R"(
void main() {
  uint i = stoker_index();
  if (i >= n) return;
  y(i) = a * x(i) * x(i) + b;
}
)",
          .cpu = [](const CppCall& call, std::size_t begin, std::size_t end) {
            const auto x = call.in<float>();
            const auto y = call.out<float>();
            const auto a = static_cast<float>(call.params().real("a"));
            const auto b = static_cast<float>(call.params().real("b"));
            for (std::size_t i = begin; i < end; ++i) y[i] = a * x[i] * x[i] + b;
          }};
}

class OwnKernels : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] ErrorCode refusal(auto spec) const {
    try {
      static_cast<void>(system.add_kernel(std::move(spec)));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  }
  System system;
};

TEST_P(OwnKernels, run_in_commands_and_pipelines) {
  const UserKernel added = system.add_kernel(parabola());
  EXPECT_EQ(added.name(), "parabola");
  EXPECT_FALSE(added.gradient);
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({0.0F, 1.0F, 2.0F, 3.0F});
  EXPECT_EQ(device.run("parabola", {x}, {{"a", 2.0}, {"b", 1.0}}).read<float>().get(),
            (std::vector<float>{1, 3, 9, 19}));
  Pipeline twice = system.pipeline(device);
  twice.input("x", x.spec());
  twice.add("parabola", {"x"}, "squares");
  twice.add("parabola", {"squares"}, "y", {{"b", 1.0}});
  twice.output("y");
  const Buffer y = device.buffer(x.spec());
  twice.run({{"x", x}, {"y", y}}).get();
  EXPECT_EQ(y.read<float>().get(), (std::vector<float>{1, 2, 17, 82}));
}

TEST_P(OwnKernels, say_what_is_wrong_with_them) {
  EXPECT_EQ(system.add_kernel(parabola()).name(), "parabola");
  EXPECT_EQ(refusal(parabola()), ErrorCode::already_exists);
  KernelSpec nothing = parabola();
  nothing.glsl = {};
  nothing.cpu = {};
  EXPECT_EQ(refusal(nothing), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(CppKernelSpec{.name = "nothing", .run = {}}), ErrorCode::invalid_argument);
  KernelSpec wrong = parabola();
  wrong.name = "wrong";
  wrong.glsl = "void main() {\n  y(0) = nonsense;\n}\n";
  try {
    static_cast<void>(system.add_kernel(wrong));
    ADD_FAILURE() << "it was added";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_failed);
    EXPECT_EQ(error.detail("line"), "2");
  }
  EXPECT_THROW(static_cast<void>(system.kernel("wrong")), Error);
}

TEST_P(OwnKernels, of_one_side_are_refused_by_the_other) {
  KernelSpec one = parabola();
  const bool on_cpu = std::string{GetParam()} == "cpu";
  if (on_cpu) one.cpu = {};
  if (!on_cpu) one.glsl = {};
  static_cast<void>(system.add_kernel(one));
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F});
  try {
    static_cast<void>(device.run("parabola", {x}));
    ADD_FAILURE() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, OwnKernels, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

TEST(OwnKernel, may_have_several_inputs_and_outputs_of_their_own_types) {
  const System system;
  static_cast<void>(system.add_kernel({
      .name = "divide_whole",
      .inputs = {{"x", "s32"}, {"by", "s32"}},
      .outputs = {{"quotient", "s32"}, {"rest", "s32"}},
      .cpu =
          [](const CppCall& call, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
              call.out<std::int32_t>(0)[i] =
                  call.in<std::int32_t>(0)[i] / call.in<std::int32_t>(1)[i];
              call.out<std::int32_t>(1)[i] =
                  call.in<std::int32_t>(0)[i] % call.in<std::int32_t>(1)[i];
            }
          },
  }));
  const std::vector<TensorSpec> inputs(2, {DType::s32, Shape{3}});
  const auto kernel = system.kernel("divide_whole");
  EXPECT_EQ(kernel->check(inputs, ParamSet{}).value().size(), 2U);
  const std::vector<TensorSpec> floats(2, {DType::f32, Shape{3}});
  EXPECT_EQ(kernel->check(floats, ParamSet{}).error().code(), ErrorCode::dtype_mismatch);
}

TEST(OwnKernel, whose_definition_contradicts_itself_is_refused_with_the_reason) {
  const auto reason = [](auto change) {
    KernelSpec spec{.name = "mine", .cpu = [](const CppCall&, std::size_t, std::size_t) {}};
    change(spec);
    const Result<Kernel> made = try_make_kernel(std::move(spec));
    return made ? std::string{} : std::string{made.error().reason()};
  };
  EXPECT_NE(reason([](auto& s) {
              s.inputs = {{"x"}, {"x"}};
            }).find("two buffers are named 'x'"),
            std::string::npos);
  EXPECT_NE(
      reason([](auto& s) {
        s.params = {
            {.name = "a", .type = ParamType::real, .fallback = std::int64_t{1}, .doc = "any"}};
      }).find("parameter 'a' is real, and its default is integer"),
      std::string::npos);
  EXPECT_EQ(reason([](auto&) {}), "");
}

TEST(OwnKernel, that_declares_buffers_images_or_uniforms_in_its_text_is_refused) {
  const auto made = [](std::string declaration, std::string statement) {
    return try_make_kernel(
        {.name = "mine",
         .glsl = std::move(declaration) + "\nvoid main() { " + std::move(statement) + " }"});
  };
  const std::pair<const char*, const char*> refused[] = {
      {"layout(set = 0, binding = 0) buffer B { float q[]; };", "q[0] = 1.0;"},
      {"layout(set = 0, binding = 0) uniform B { float q; };", "y(0) = q;"},
      {"layout(set = 0, binding = 0, r32f) uniform image2D q;",
       "imageStore(q, ivec2(0), vec4(1.0));"},
      {"layout(set = 0, binding = 0) uniform sampler2D q;",
       "y(0) = textureLod(q, vec2(0), 0.0).x;"},
  };
  for (const auto& [declaration, statement] : refused) {
    const Result<Kernel> kernel = made(declaration, statement);
    ASSERT_TRUE(kernel.has_error()) << declaration;
    EXPECT_EQ(kernel.error().code(), ErrorCode::compile_failed) << declaration;
    EXPECT_NE(kernel.error().reason().find("declares a buffer, an image or a uniform"),
              std::string_view::npos)
        << kernel.error().what();
    EXPECT_EQ(kernel.error().detail("file"), "mine");
  }
  EXPECT_TRUE(made("shared float q[256]; float p = 1.0; const float r[2] = float[2](1.0, 2.0);",
                   "q[gl_LocalInvocationID.x] = p; barrier(); y(0) = q[0] + r[n % 2u];"));
}

TEST(OwnKernel, is_not_compiled_once_that_is_cancelled) {
  const CancelSource source;
  source.cancel(deadline_error("test"));
  const Result<Kernel> made =
      try_make_kernel({.name = "mine", .glsl = "nonsense"}, {}, source.token());
  ASSERT_TRUE(made.has_error());
  EXPECT_EQ(made.error().code(), ErrorCode::deadline_exceeded);
}

TEST(OwnKernel, takes_inputs_of_one_shape_unless_it_has_a_rule_for_shapes) {
  const auto sum = [](const CppCall& call, std::size_t begin, std::size_t end) {
    const auto by = call.in<float>(1);
    for (std::size_t i = begin; i < end; ++i)
      call.out<float>()[i] = call.in<float>(0)[i] + by[i % by.size()];
  };
  const std::vector<TensorSpec> differ{{DType::f32, Shape{40}}, {DType::f32, Shape{2}}};
  const Kernel strict = make_kernel({.name = "add", .inputs = {{"x"}, {"by"}}, .cpu = sum});
  const Result<std::vector<TensorSpec>> refused = strict.check(differ, ParamSet{});
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(refused.error().detail("input"), "1");
  EXPECT_EQ(refused.error().detail("got"), "[2]");
  const Kernel function = cpp_kernel({.name = "add", .inputs = {2, 2}, .run = sum});
  EXPECT_EQ(function.check(differ, ParamSet{}).error().code(), ErrorCode::shape_mismatch);
  const Kernel repeats =
      make_kernel({.name = "add",
                   .inputs = {{"x"}, {"by"}},
                   .shapes = [](const KernelCall& call) -> Result<std::vector<Shape>> {
                     return std::vector{call.shape()};
                   },
                   .cpu = sum});
  EXPECT_EQ(repeats.check(differ, ParamSet{}).value().at(0).shape, Shape{40});
}

}  // namespace
}  // namespace stoker
