#include "stoker/api/kernel_spec.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "stoker/kernels/kernel_rules.hpp"
#include "stoker/kernels/shader/preamble.hpp"
#include "stoker/kernels/shader/spirv_module.hpp"

namespace stoker {
namespace {

Error refuse(const KernelSpec& spec, std::string reason) {
  return {spec.name.empty() ? "add_kernel" : spec.name, ErrorCode::invalid_argument,
          std::move(reason)};
}

Result<void> check_signature(const KernelSpec& spec) {
  if (spec.glsl.empty() && !spec.cpu)
    return refuse(spec, "neither `glsl` nor `cpu` says how to compute it");
  if (spec.dtypes.empty()) return refuse(spec, "`dtypes` is empty");
  if (spec.outputs.empty()) return refuse(spec, "the signature has no output");
  if (spec.inputs.empty() && !spec.shapes)
    return refuse(spec, "without inputs, `shapes` must say how large the outputs are");
  std::set<std::string_view> names;
  for (const auto* buffers : {&spec.inputs, &spec.outputs})
    for (const KernelBuffer& buffer : *buffers) {
      if (buffer.type != "T" && !parse_dtype(buffer.type))
        return refuse(
            spec, "buffer '" + buffer.name + "': '" + buffer.type + "' is neither a dtype nor T");
      if (!names.insert(buffer.name).second)
        return refuse(spec, "two buffers are named '" + buffer.name + "'");
    }
  return {};
}

/// What a shader asks beyond that.
Result<void> check_shader(const KernelSpec& spec) {
  if (spec.glsl.text().empty()) return refuse(spec, "the text of `glsl` is empty");
  if (!spec.groups && spec.local_size[1] * spec.local_size[2] != 1)
    return refuse(spec, "groups of several axes need `groups` to say how many there are");
  const auto no_complex = [&](DType dtype) -> Result<void> {
    if (!is_complex(dtype)) return {};
    return refuse(spec, "shaders take complex numbers as pairs of floats, not as " +
                            std::string{to_string(dtype)});
  };
  for (const DType dtype : spec.dtypes) STOKER_TRY(no_complex(dtype));
  for (const auto* buffers : {&spec.inputs, &spec.outputs})
    for (const KernelBuffer& buffer : *buffers)
      if (buffer.type != "T") STOKER_TRY(no_complex(*parse_dtype(buffer.type)));
  for (const ParamSpec& param : spec.params)
    if (param.type == ParamType::text || param.type == ParamType::integers)
      return refuse(spec, "parameter '" + param.name + "' is " +
                              std::string{to_string(param.type)} +
                              "; GLSL kernels take boolean, integer and real");
  return {};
}

PushType push_type(ParamType type) noexcept {
  switch (type) {
    case ParamType::real: return PushType::f32;
    case ParamType::integer: return PushType::s32;
    default: return PushType::u32;
  }
}

Shader make_shader(const KernelSpec& spec) {
  Shader shader{.name = spec.name, .file = spec.glsl.file(), .bindings = {}, .variants = {}};
  for (const KernelBuffer& buffer : spec.inputs)
    shader.bindings.push_back({buffer.name, buffer.type});
  for (const KernelBuffer& buffer : spec.outputs)
    shader.bindings.push_back({buffer.name, buffer.type, true});
  shader.push = {{"n"}, {"rank"}, {"dims", PushType::u32, Shape::max_rank}};
  for (const ParamSpec& param : spec.params)
    shader.push.push_back({param.name, push_type(param.type)});
  shader.local_size = spec.local_size;
  shader.uses_subgroups = spec.uses_subgroups;
  shader.source = spec.glsl.text();
  for (const DType dtype : spec.dtypes)
    shader.variants.push_back({std::string{to_string(dtype)}, {{"T", dtype}}});
  return shader;
}

/// The dtype of a declared buffer when the first input has dtype `t`.
DType dtype_of_buffer(const KernelBuffer& buffer, DType t) {
  return buffer.type == "T" ? t : parse_dtype(buffer.type).value_or(t);
}

/// The dtype that T stands for in this call: that of the first buffer declared as T.
DType bound_type(const KernelSpec& spec, const KernelCall& call) {
  for (std::size_t i = 0; i < spec.inputs.size(); ++i)
    if (spec.inputs[i].type == "T") return call.dtype(i);
  return spec.dtypes.front();
}

Result<std::vector<TensorSpec>> infer_outputs(const KernelSpec& spec, const KernelCall& call) {
  const DType t = bound_type(spec, call);
  if (std::ranges::find(spec.dtypes, t) == spec.dtypes.end())
    return Error{spec.name,
                 ErrorCode::dtype_mismatch,
                 "T cannot be " + std::string{to_string(t)},
                 {{"got", std::string{to_string(t)}}}};
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    const DType expected = dtype_of_buffer(spec.inputs[i], t);
    if (call.dtype(i) != expected)
      return Error{spec.name,
                   ErrorCode::dtype_mismatch,
                   "input '" + spec.inputs[i].name + "' is " +
                       std::string{to_string(call.dtype(i))} + ", expected " +
                       std::string{to_string(expected)},
                   {{"expected", std::string{to_string(expected)}},
                    {"got", std::string{to_string(call.dtype(i))}}}};
  }
  std::vector<Shape> shapes;
  if (spec.shapes) {
    STOKER_ASSIGN(shapes, spec.shapes(call));
    if (shapes.size() != spec.outputs.size())
      return Error{spec.name, ErrorCode::arity_mismatch,
                   "`shapes` gave " + std::to_string(shapes.size()) + " shapes for " +
                       std::to_string(spec.outputs.size()) + " outputs"};
  } else {
    STOKER_TRY(check_shaped_alike(spec.name, call));
    shapes.assign(spec.outputs.size(), call.shape());
  }
  std::vector<TensorSpec> outputs;
  for (std::size_t i = 0; i < spec.outputs.size(); ++i)
    outputs.push_back({dtype_of_buffer(spec.outputs[i], t), shapes[i]});
  return outputs;
}

Result<PushValues> push_values(const KernelSpec& spec, const KernelCall& call, const Shape& shape) {
  PushValues push;
  push.u32(static_cast<std::uint64_t>(shape.elements())).u32(shape.rank());
  push.u32s(shape.extents(), Shape::max_rank, 1);
  for (const ParamSpec& param : spec.params) {
    if (param.type == ParamType::real) {
      push.f32(call.params.real(param.name));
    } else if (param.type == ParamType::boolean) {
      push.u32(call.params.flag(param.name) ? 1 : 0);
    } else {
      const std::int64_t value = call.params.integer(param.name);
      if (value != static_cast<std::int32_t>(value))
        return Error{spec.name,
                     ErrorCode::invalid_parameter,
                     "parameter '" + param.name + "' is " + std::to_string(value) +
                         ", which does not fit 32 bits",
                     {{"parameter", param.name}}};
      push.s32(value);
    }
  }
  return push;
}

Result<GpuPlan> gpu_plan(const KernelSpec& spec, const Shader& shader, const KernelCall& call,
                         std::span<const TensorSpec> outputs) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto too_large = [&](const TensorSpec& tensor) { return tensor.shape.elements() > most; };
  if (std::ranges::any_of(call.inputs, too_large) || std::ranges::any_of(outputs, too_large))
    return Error{spec.name,
                 ErrorCode::limit_exceeded,
                 "a buffer has more than 2^31 - 1 elements",
                 {{"limit", std::to_string(most)}}};
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = to_string(bound_type(spec, call));
  for (std::uint32_t i = 0; i < spec.inputs.size(); ++i) pass.bindings.push_back(input(i));
  for (std::uint32_t i = 0; i < spec.outputs.size(); ++i) pass.bindings.push_back(output(i));
  STOKER_ASSIGN(pass.push, push_values(spec, call, outputs[0].shape));
  pass.groups = spec.groups ? spec.groups(call, outputs)
                            : linear_groups_for(outputs[0].elements(), spec.local_size[0]);
  return GpuPlan{{std::move(pass)}, {}};
}

std::vector<DType> first_input_dtypes(const KernelSpec& spec) {
  if (spec.inputs.empty() || spec.inputs[0].type == "T") return spec.dtypes;
  const auto dtype = parse_dtype(spec.inputs[0].type);
  return dtype ? std::vector{*dtype} : std::vector<DType>{};
}

Result<void> check_resources(const Shader& shader, const ShaderVariant& variant) {
  if (!needs_descriptors(variant.spirv)) return {};
  const std::string message =
      "the text declares a buffer, an image or a uniform of its own: declare buffers as `inputs` "
      "and `outputs`, numbers as `params`";
  return Error{shader.name,
               ErrorCode::compile_failed,
               message,
               {{"file", shader.file.empty() ? shader.name : shader.file},
                {"variant", variant.name},
                {"message", message}}};
}

using SharedSpec = std::shared_ptr<const KernelSpec>;

Result<void> add_shader(Kernel& kernel, const SharedSpec& spec,
                        const std::filesystem::path& cache_dir, const CancelToken& cancel) {
  STOKER_TRY(check_shader(*spec));
  const auto shader = std::make_shared<Shader>(make_shader(*spec));
  kernel.shaders = {shader};
  kernel.gpu = [spec, shader](const KernelCall& call, std::span<const TensorSpec> outputs,
                              const GpuTraits&) { return gpu_plan(*spec, *shader, call, outputs); };
  STOKER_TRY(check_definition(kernel));
  for (ShaderVariant& variant : shader->variants) {
    STOKER_TRY(cancel.try_check());
    STOKER_ASSIGN(variant.spirv, spec->glsl.try_compile(*shader, variant, cache_dir));
    STOKER_TRY(check_resources(*shader, variant));
  }
  return {};
}

Result<void> add_function(Kernel& kernel, const SharedSpec& spec) {
  CppKernelSpec function;
  function.name = spec->name;
  function.inputs = kernel.inputs;
  function.dtypes = kernel.dtypes;
  function.params = spec->params;
  function.infer = kernel.infer;
  function.run = spec->cpu;
  function.grain = spec->grain;
  function.ns_per_element = spec->ns_per_element;
  STOKER_ASSIGN(const Kernel made, try_cpp_kernel(std::move(function)));
  kernel.cpu = made.cpu;
  return {};
}

}  // namespace

Kernel make_kernel(KernelSpec spec, const std::filesystem::path& cache_dir,
                   const CancelToken& cancel) {
  return try_make_kernel(std::move(spec), cache_dir, cancel).value();
}

Result<Kernel> try_make_kernel(KernelSpec given, const std::filesystem::path& cache_dir,
                               const CancelToken& cancel) {
  STOKER_TRY(check_signature(given));
  const auto spec = std::make_shared<const KernelSpec>(std::move(given));
  Kernel kernel;
  kernel.name = spec->name;
  kernel.family = "user";
  kernel.summary = spec->summary;
  kernel.params = spec->params;
  kernel.inputs = {spec->inputs.size(), spec->inputs.size()};
  kernel.dtypes = first_input_dtypes(*spec);
  kernel.infer = [spec](const KernelCall& call) { return infer_outputs(*spec, call); };
  STOKER_TRY(check_definition(kernel));
  if (!spec->glsl.empty()) STOKER_TRY(add_shader(kernel, spec, cache_dir, cancel));
  if (spec->cpu) STOKER_TRY(add_function(kernel, spec));
  return kernel;
}

}  // namespace stoker
