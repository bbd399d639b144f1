// One function's loop over blocks: of the operands as they lie or, where they repeat or are converted, as
// gathered.
#include "stoker/kernels/cpu/operand.hpp"
#include "stoker/kernels/elementwise/functions.hpp"
#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::elementwise::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;
namespace scalar = stoker::kernels::scalar::STOKER_ISA;

/// Everything that the slices of all runs share.
struct Job {
  scalar::ScalarLoop loop;
  std::size_t operands;
  StridedWalk walk;
  std::size_t elements;
  std::uint32_t slices;
  bool streams;
  bool dense;  // every operand lies as the output does
};

/// Operands of T, a result of R. As bytes, bool is u8.
template <class T, class R>
void run_slice(const CpuArgs& args, const Job& job, std::uint32_t index) {
  using C = cpu::Compute<T>;
  using Result = cpu::Compute<R>;
  const std::size_t last = job.operands - 1;
  R* const out = args.out<R>();
  const SliceRange range = slice_range(job.elements, job.slices, index);
  if constexpr (std::is_same_v<T, C> && std::is_same_v<R, Result>) {
    if (job.dense && !job.streams) {
      const void* const from[] = {args.in<T>(0) + range.begin, args.in<T>(last) + range.begin};
      job.loop(from, out + range.begin, range.end - range.begin);
      return;
    }
  }
  alignas(64) C left[cpu::block_elements];
  alignas(64) C right[cpu::block_elements];
  cpu::Operand<T> a{args.in<T>(0), job.walk, 0, left};
  cpu::Operand<T> b{args.in<T>(last), job.walk, last, right};
  cpu::for_blocks(
      out, range, cpu::block_step(job.walk, job.operands), job.streams,
      [&](std::size_t first, std::size_t n, Result* result) {
        const void* const from[] = {a.block(first, n), last == 0 ? nullptr : b.block(first, n)};
        job.loop(from, result, n);
      });
}

template <class T, class R> CpuStage stage(const Job& job) {
  return {job.slices,
          [job](const CpuArgs& args, std::uint32_t index) { run_slice<T, R>(args, job, index); }};
}

Result<CpuPlan> plan(const ScalarFunction& function, const KernelCall& call,
                     std::span<const TensorSpec> outputs) {
  const TensorSpec& output = outputs[0];
  const DType dtype = call.dtype();
  std::array<Strides, StridedWalk::max_operands> strides{};
  for (std::size_t k = 0; k < function.arity; ++k)
    strides[k] = broadcast_strides(call.shape(k), output.shape);
  const std::size_t n = output.elements();
  const auto bytes = static_cast<double>(size_of(dtype) * function.arity + size_of(output.dtype));
  const double ns =
      function.cost_ns * static_cast<double>(std::max<std::size_t>(size_of(dtype), 4)) / 4 +
      0.008 * bytes;
  const auto grain = static_cast<std::size_t>(std::clamp(20000 / ns, 4096.0, 32768.0));
  const StridedWalk walk = strided_walk(output.shape, std::span{strides}.first(function.arity));
  const Job job{.loop = scalar::find_loop(function.name, dtype, output.dtype),
                .operands = function.arity,
                .walk = walk,
                .elements = n,
                .slices = slice_count(n, grain),
                .streams = output.bytes() >= cpu::stream_from_bytes,
                .dense = walk.dense(0) && walk.dense(function.arity - 1U)};
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(n) * ns;
  visit_dtype(dtype, [&]<class T>() {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
    plan.stages.push_back(function.result == ScalarResult::truth ? stage<Stored, std::uint8_t>(job)
                                                                 : stage<Stored, Stored>(job));
  });
  return plan;
}

}  // namespace

void implement(CpuTable& table) {
  for (const Group& group : groups())
    for (const Elementwise& kernel : kernels_of(group))
      table.set(kernel.name, [kernel](const KernelCall& call, std::span<const TensorSpec> outputs) {
        return plan(kernel.function(call.dtype()), call, outputs);
      });
}

}  // namespace stoker::kernels::elementwise::STOKER_ISA
