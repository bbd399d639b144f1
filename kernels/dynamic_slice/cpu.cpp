#include "stoker/kernels/cpu/copy_plan.hpp"
#include "stoker/kernels/dynamic_slice/box.hpp"
#include "stoker/kernels/indexing/offsets.hpp"
#include "stoker/kernels/indexing/runs.hpp"

namespace stoker::kernels::dynamic_slice::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;
namespace indexing_isa = stoker::indexing::STOKER_ISA;

/// Where a box begins: its starts are one index vector, clamped to what leaves room for the box.
struct Start {
  indexing::Lookup lookup;
  indexing_isa::Offsets offsets;

  Start(const Shape& tensor, std::span<const std::int64_t> lengths, DType starts)
      : offsets{indexing_isa::offsets_of(starts)} {
    lookup.coordinates = tensor.rank();
    lookup.strides = tensor.strides();
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis)
      lookup.extents[axis] = tensor[axis] - lengths[axis] + 1;
  }

  [[nodiscard]] std::int64_t read(const void* starts) const {
    std::int64_t start = 0;
    offsets(starts, lookup, 0, 1, &start);
    return start;
  }
};

/// Moves `walk` from where operand 0 lies to where operand 1 does. With `puts` the output begins at
/// the start, else the source does.
CpuStage box_stage(const TensorSpec& moved, const StridedWalk& walk, const Start& start,
                   std::uint32_t source, std::uint32_t starts, bool puts) {
  const std::size_t n = moved.elements();
  const bool streams = moved.bytes() >= cpu::stream_from_bytes;
  const std::uint32_t slices = slice_count(moved.bytes(), std::size_t{128} << 10);
  CpuStage stage;
  stage.slices = slices;
  indexing_isa::visit_bits(size_of(moved.dtype), [&]<class T>() {
    stage.run = [=](const CpuArgs& args, std::uint32_t index) {
      const std::int64_t offset = start.read(args.inputs[starts]);
      const T* from = args.in<T>(source) + (puts ? 0 : offset);
      T* to = args.out<T>() + (puts ? offset : 0);
      indexing_isa::move_box(from, to, walk, slice_range(n, slices, index), streams);
    };
  });
  return stage;
}

Result<CpuPlan> plan_slice(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Shape& x = call.shape();
  const auto given = options::from<DynamicSlice>(call.params);
  const std::vector<std::int64_t> steps = steps_of(given, x.rank());
  Strides strides[] = {x.strides(), outputs[0].shape.strides()};
  for (std::size_t axis = 0; axis < x.rank(); ++axis) strides[0][axis] *= steps[axis];
  const Start start{x, given.lengths.list(), call.dtype(1)};
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(outputs[0].bytes()) * 0.1;
  plan.stages.push_back(
      box_stage(outputs[0], strided_walk(outputs[0].shape, strides), start, 0, 1, false));
  return plan;
}

Result<CpuPlan> plan_put(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const TensorSpec& slice = call.inputs[1];
  CpuPlan plan = cpu::copy_plan(outputs[0].bytes());
  if (slice.elements() == 0) return plan;
  const Strides strides[] = {slice.shape.strides(), call.shape().strides()};
  const Start start{call.shape(), slice.shape.extents(), call.dtype(2)};
  plan.cost_ns += static_cast<double>(slice.bytes()) * 0.1;
  plan.stages.push_back(box_stage(slice, strided_walk(slice.shape, strides), start, 1, 2, true));
  return plan;
}

}  // namespace

void implement(CpuTable& table) {
  table.set("dynamic_slice", &plan_slice);
  table.set("put_slice", &plan_put);
}

}  // namespace stoker::kernels::dynamic_slice::STOKER_ISA
