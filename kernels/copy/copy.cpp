#include "stoker/kernels/copy/copy.hpp"

#include <algorithm>

#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::copy {
namespace {

// 16-byte pieces a thread copies; must match copy.glsl.
constexpr std::size_t pieces_per_thread = 4;

}  // namespace

std::shared_ptr<const Shader> shader() {
  Shader shader;
  shader.name = "copy";
  shader.file = "copy/copy.glsl";
  // The same memory twice: as 16-byte pieces, and by element for what is left.
  shader.bindings = {{.name = "x", .type = "u32"},
                     {.name = "x_tail", .type = "T"},
                     {.name = "y", .type = "u32", .writes = true},
                     {.name = "y_tail", .type = "T", .writes = true}};
  shader.push = {{"pieces"}, {"tail_first"}, {"tail_count"}};
  shader.variants = rules::variants_of("T", {DType::u8, DType::u16, DType::u32});
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(std::string_view op, const Shader& shader, const TensorSpec& tensor) {
  // Elements of 8 bytes are copied as two words, so no 64-bit integers are needed.
  const std::size_t element = size_of(tensor.dtype);
  const std::size_t unit = std::min<std::size_t>(element, 4);
  STOKER_TRY(rules::gpu_indexable(op, {&tensor, 1}, element / unit));
  const std::size_t pieces = tensor.bytes() / 16;
  const std::size_t tail_first = pieces * 16 / unit;
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = unit == 1 ? "u8" : unit == 2 ? "u16" : "u32";
  pass.bindings = {input(0), input(0), output(), output()};
  pass.push.u32(pieces).u32(tail_first).u32(tensor.bytes() / unit - tail_first);
  const std::size_t threads = (pieces + pieces_per_thread - 1) / pieces_per_thread;
  pass.groups = linear_groups_for(std::max<std::size_t>(threads, 1), shader.local_size[0]);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace stoker::kernels::copy
