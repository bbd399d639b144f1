#include <algorithm>
#include <cmath>

#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/interpolation.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/resize/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::resize {
namespace {

/// Both kernels have the same options, but for a default.
Resize given_to(const KernelCall& call) { return options::from<Resize>(call.params); }

/// The extent for a parameter of 0: in proportion to the other axis, or as it is.
std::int64_t in_proportion(std::int64_t own, std::int64_t other, std::int64_t other_asked) {
  if (other_asked == 0) return own;
  const double ratio =
      static_cast<double>(other_asked) / static_cast<double>(std::max<std::int64_t>(other, 1));
  // More than a shape may have, where it would be more than 64 bits hold.
  constexpr double too_many = 1LL << 60;
  return std::max<std::int64_t>(1,
                                std::llround(std::min(static_cast<double>(own) * ratio, too_many)));
}

Result<std::vector<TensorSpec>> infer(std::string_view op, const KernelCall& call) {
  STOKER_ASSIGN(const image::Extent image, image::check(op, call.inputs[0]));
  const auto given = given_to(call);
  const std::int64_t asked_width = given.width;
  const std::int64_t asked_height = given.height;
  if (asked_width == 0 && asked_height == 0) return std::vector{call.inputs[0]};
  if (image.elements() == 0)
    return Error{std::string{op},
                 ErrorCode::shape_mismatch,
                 "an empty image has no pixels to take a size from",
                 {{"input", call.inputs[0].to_string()}}};
  const std::int64_t width =
      asked_width > 0 ? asked_width : in_proportion(image.width, image.height, asked_height);
  const std::int64_t height =
      asked_height > 0 ? asked_height : in_proportion(image.height, image.width, asked_width);
  const std::int64_t extents[] = {height, width, image.channels};
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, op));
  return std::vector<TensorSpec>{{call.dtype(), shape}};
}

struct Shaders {
  std::shared_ptr<const Shader> direct;
  std::shared_ptr<const Shader> down;
  std::shared_ptr<const Shader> across;
};

std::shared_ptr<const Shader> axis_shader(const char* name, const char* from, const char* to,
                                          bool rounds) {
  Shader shader;
  shader.name = name;
  shader.file = "resize/axis.glsl";
  shader.bindings = {{.name = "x", .type = from}, {.name = "y", .type = to, .writes = true}};
  shader.push = {{"n"},     {"size_in"}, {"size_out"},    {"inner"},
                 {"whole"}, {"rest"},    {"filter_kind"}, {"stretch", PushType::f32}};
  shader.variants = rules::variants_of("T", image::dtypes());
  for (ShaderVariant& variant : shader.variants) variant.defines = {{"ROUNDS", rounds ? "1" : "0"}};
  return std::make_shared<const Shader>(std::move(shader));
}

Shaders make_shaders() {
  Shader direct;
  direct.name = "resize_direct";
  direct.file = "resize/direct.glsl";
  direct.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  direct.push = {{"pixels"},     {"channels"},     {"filter_kind"}, {"height_in"},
                 {"height_out"}, {"height_whole"}, {"height_rest"}, {"width_in"},
                 {"width_out"},  {"width_whole"},  {"width_rest"}};
  direct.variants = rules::variants_of("T", image::dtypes());
  return {std::make_shared<const Shader>(std::move(direct)),
          axis_shader("resize_down", "T", "f32", false),
          axis_shader("resize_across", "f32", "T", true)};
}

/// in = whole · out + rest, for the shaders' exact positions.
void push_axis(PushValues& push, std::int64_t in, std::int64_t out) {
  push.u32(in).u32(out).u32(in / out).u32(in % out);
}

Result<GpuPlan> gpu_plan(std::string_view op, const Shaders& shaders, const KernelCall& call,
                         const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable(op, call.inputs));
  STOKER_TRY(rules::gpu_indexable(op, {&result, 1}));
  const image::Extent in = image::extent(call.shape());
  const image::Extent out = image::extent(result.shape);
  constexpr std::int64_t limit = 65'535;  // positions are exact in 32 bits up to here
  if (out.height > limit || out.width > limit)
    return Error{std::string{op},
                 ErrorCode::limit_exceeded,
                 "more than 65535 pixels a side; use the cpu device",
                 {{"limit", std::to_string(limit)}, {"output", result.to_string()}}};
  const auto given = given_to(call);
  const Filter filter = given.mode;
  const bool shrinks = in.height > out.height || in.width > out.width;
  const std::string variant{to_string(call.dtype())};
  GpuPlan plan;

  if (filter == Filter::nearest || !given.antialias || !shrinks) {
    PushValues push;
    const std::int64_t pixels = out.height * out.width;
    push.u32(pixels).u32(in.channels).u32(static_cast<std::uint64_t>(filter));
    push_axis(push, in.height, out.height);
    push_axis(push, in.width, out.width);
    plan.passes.push_back(
        {shaders.direct.get(),
         variant,
         {input(0), output()},
         push,
         linear_groups_for(static_cast<std::uint64_t>(pixels), shaders.direct->local_size[0])});
    return plan;
  }

  const auto add_axis = [&](const std::shared_ptr<const Shader>& shader,
                            std::vector<PassBinding> bindings, std::int64_t elements,
                            std::int64_t from, std::int64_t to, std::int64_t inner) {
    PushValues push;
    push.u32(elements).u32(from).u32(to).u32(inner).u32(from / to).u32(from % to);
    const auto stretch = image::filter_stretch(from, to, true);
    push.u32(static_cast<std::uint64_t>(filter)).f32(stretch);
    plan.passes.push_back(
        {shader.get(), variant, std::move(bindings), push,
         linear_groups_for(static_cast<std::uint64_t>(elements), shader->local_size[0])});
    plan.passes.back().rounds =
        2 * static_cast<std::uint64_t>(std::ceil(static_cast<double>(filter) * stretch));
  };
  const std::int64_t between = out.height * in.row();
  const TensorSpec scratch_spec{DType::f32, Shape{out.height, in.width, in.channels}};
  STOKER_TRY(rules::gpu_indexable(op, {&scratch_spec, 1}));
  plan.scratch_bytes = {scratch_spec.bytes()};
  add_axis(shaders.down, {input(0), scratch(0)}, between, in.height, out.height, in.row());
  add_axis(shaders.across, {scratch(0), output()}, out.elements(), in.width, out.width,
           in.channels);
  return plan;
}

template <class K> Kernel resizer(const Shaders& shaders) {
  static constexpr std::string_view name = K::kind;
  auto kernel = kernel_of<K>();
  kernel.family = "image";
  kernel.source = "bicubic: R. Keys, Cubic Convolution Interpolation (1981), a = -0.5";
  kernel.dtypes = image::dtypes();
  kernel.infer = [](const KernelCall& call) { return infer(name, call); };
  kernel.shaders = {shaders.direct, shaders.down, shaders.across};
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec> outputs,
                         const GpuTraits&) { return gpu_plan(name, shaders, call, outputs[0]); };
  return kernel;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const Shaders shaders = make_shaders();
  Kernel resize = resizer<Resize>(shaders);
  resize.summary =
      "the image in another size; pixel centres lie at halves; edge pixels repeat past the edge";
  STOKER_TRY(registry.add(std::move(resize)));
  Kernel bicubic = resizer<BicubicScale>(shaders);
  bicubic.summary = "resize with bicubic as its default mode";
  return registry.add(std::move(bicubic));
}

}  // namespace stoker::kernels::resize
