// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include <algorithm>
#include <bit>

#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/sort/order.hpp"

namespace stoker::kernels::sort {
namespace {

// Elements that a group sorts in shared memory: 12 KiB of the widest dtype and its positions.
constexpr std::int64_t block = 1024;

struct Shaders {
  std::shared_ptr<const Shader> block;
  std::shared_ptr<const Shader> step;
};

Shaders make_shaders() {
  Shader in_block;
  in_block.name = "sort_block";
  in_block.file = "sort/block.glsl";
  in_block.bindings = {{.name = "x", .type = "T"},
                       {.name = "v", .type = "T", .writes = true},
                       {.name = "p", .type = "u32", .writes = true},
                       {.name = "y", .type = "T", .writes = true},
                       {.name = "z", .type = "s32", .writes = true}};
  in_block.push = {{"rows"}, {"length"}, {"inner"}, {"keep"}, {"blocks"}};
  in_block.constants = {{"descending"}, {"width", 1024}, {"begins"},
                        {"ends"},       {"values"},      {"indices"}};
  in_block.variants = rules::variants_of("T", rules::all_dtypes());
  Shader step = in_block;
  step.name = "sort_step";
  step.file = "sort/step.glsl";
  step.bindings = {{.name = "v", .type = "T", .writes = true},
                   {.name = "p", .type = "u32", .writes = true}};
  step.push = {{"pairs"}, {"pairs_per_row"}, {"length"}, {"span"}, {"mirrored"}};
  step.constants = {{"descending"}};
  return {std::make_shared<const Shader>(std::move(in_block)),
          std::make_shared<const Shader>(std::move(step))};
}

/// Bitonic sorting whose comparisons all point the same way (the first of each merge is between
/// mirrored places), so that what lies beyond a row's end counts as largest and is never touched.
class Planner {
 public:
  Planner(const Shaders& shaders, const Order& order, DType dtype)
      : shaders_{shaders},
        order_{order},
        variant_{to_string(dtype)},
        rows_{order.rows.rows()},
        length_{order.rows.length},
        padded_{static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length_)))} {
    if (padded_ <= block) {
      in_block(true, true);
      return;
    }
    const auto elements = static_cast<std::size_t>(rows_ * length_);
    plan_.scratch_bytes = {elements * size_of(dtype), elements * 4};
    in_block(true, false);
    for (std::int64_t span = 2 * block; span <= padded_; span *= 2) {
      step(span, true);
      for (std::int64_t part = span / 2; part > block; part /= 2) step(part, false);
      in_block(false, span == padded_);
    }
  }

  [[nodiscard]] GpuPlan take() { return std::move(plan_); }

 private:
  /// Sorts blocks of the input (`begins`), or ends a merge within blocks; into the outputs (`ends`)
  /// or the scratch memory.
  void in_block(bool begins, bool ends) {
    const std::int64_t width = std::min(padded_, block);
    const std::int64_t blocks = (length_ + width - 1) / width;
    GpuPass pass;
    pass.shader = shaders_.block.get();
    pass.variant = variant_;
    const bool held = !plan_.scratch_bytes.empty();
    pass.bindings = {input(0), held ? scratch(0) : output(), held ? scratch(1) : output(), output(),
                     output(order_.values && order_.indices ? 1 : 0)};
    for (const std::int64_t value : {rows_, length_, order_.rows.inner, order_.keep, blocks})
      pass.push.u32(static_cast<std::uint64_t>(value));
    pass.constants = {
        order_.descending, static_cast<std::uint32_t>(width), begins, ends, order_.values,
        order_.indices};
    pass.groups = linear_groups_for(static_cast<std::uint64_t>(rows_ * blocks * width),
                                    static_cast<std::uint32_t>(block));
    plan_.passes.push_back(std::move(pass));
  }

  /// Compares places `span` / 2 apart, or mirrored within `span`, all over the rows.
  void step(std::int64_t span, bool mirrored) {
    GpuPass pass;
    pass.shader = shaders_.step.get();
    pass.variant = variant_;
    pass.bindings = {scratch(0), scratch(1)};
    const std::int64_t pairs_per_row = padded_ / 2;
    for (const std::int64_t value :
         {rows_ * pairs_per_row, pairs_per_row, length_, span, std::int64_t{mirrored}})
      pass.push.u32(static_cast<std::uint64_t>(value));
    pass.constants = {order_.descending};
    pass.groups = linear_groups_for(static_cast<std::uint64_t>(rows_ * pairs_per_row),
                                    pass.shader->local_size[0]);
    plan_.passes.push_back(std::move(pass));
  }

  const Shaders& shaders_;
  const Order& order_;
  std::string variant_;
  std::int64_t rows_;
  std::int64_t length_;
  std::int64_t padded_;
  GpuPlan plan_;
};

Result<std::vector<TensorSpec>> infer(Kind kind, const KernelCall& call) {
  STOKER_ASSIGN(const Order order, order_of(kind, call));
  const Shape& shape = call.shape();
  const Shape result = shape.rank() == 0 ? shape : shape.with(order.rows.axis, order.keep);
  std::vector<TensorSpec> outputs;
  if (order.values) outputs.push_back({call.dtype(), result});
  if (order.indices) outputs.push_back({DType::s32, result});
  return outputs;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const Shaders shaders = make_shaders();
  for (const KindName& entry : kinds) {
    const std::string name{entry.kernel};
    const Kind kind = entry.kind;
    // argsort has the options of sort.
    auto kernel = kind == Kind::top_k ? kernel_of<TopK>() : kernel_of<Sort>();
    kernel.name = name;
    kernel.family = "sort";
    kernel.summary = entry.summary;
    kernel.source =
        "CPU: radix sort on keys that order as the elements; GPU: Batcher, \"Sorting networks and "
        "their applications\", 1968";
    kernel.dtypes = rules::all_dtypes();
    kernel.infer = [kind](const KernelCall& call) { return infer(kind, call); };
    kernel.shaders = {shaders.block, shaders.step};
    kernel.gpu = [name, kind, shaders](const KernelCall& call, std::span<const TensorSpec>,
                                       const GpuTraits&) -> Result<GpuPlan> {
      // Rows count as if filled up to a power of two.
      STOKER_TRY(rules::gpu_indexable(name, call.inputs, 2));
      STOKER_ASSIGN(const Order order, order_of(kind, call));
      return Planner{shaders, order, call.dtype()}.take();
    };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::sort
