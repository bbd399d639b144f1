#include <type_traits>

#include "stoker/kernels/cpu/operand.hpp"
#include "stoker/kernels/elementwise_binary/operation.hpp"

namespace stoker::kernels::elementwise_binary::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

/// The unsigned type in which integer arithmetic wraps: at least as wide as int, so that small
/// operands are not promoted to a signed type that overflows.
template <class C> using Wrapping = std::make_unsigned_t<decltype(C{} + C{})>;

/// a / b toward zero. Up to 32 bits through a float type wide enough that the truncated quotient
/// is exact; that vectorises, integer division does not.
template <class C> inline C divide(C a, C b) noexcept {
  if constexpr (sizeof(C) == 8) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<C>)
      if (b == -1) return static_cast<C>(Wrapping<C>{0} - static_cast<Wrapping<C>>(a));
    return a / b;
  } else {
    using Real = std::conditional_t<sizeof(C) == 4, double, float>;
    // Wide enough for -min / -1, which then wraps on its way to C.
    using Quotient = std::conditional_t<sizeof(C) == 4, std::int64_t, std::int32_t>;
    const Real divisor = b == 0 ? Real{1} : static_cast<Real>(b);
    const C quotient = static_cast<C>(static_cast<Quotient>(static_cast<Real>(a) / divisor));
    return b == 0 ? C{0} : quotient;
  }
}

template <Operation op, class C> inline C apply(C a, C b) noexcept {
  if constexpr (std::is_floating_point_v<C>) {
    if constexpr (op == Operation::add) return a + b;
    if constexpr (op == Operation::sub) return a - b;
    if constexpr (op == Operation::mul) return a * b;
    if constexpr (op == Operation::div) return a / b;
  } else {
    using W = Wrapping<C>;
    const W x = static_cast<W>(a);
    const W y = static_cast<W>(b);
    if constexpr (op == Operation::add) return static_cast<C>(x + y);
    if constexpr (op == Operation::sub) return static_cast<C>(x - y);
    if constexpr (op == Operation::mul) return static_cast<C>(x * y);
    if constexpr (op == Operation::div) return divide(a, b);
  }
}

template <Operation op, class C>
void apply_block(const C* a, const C* b, C* y, std::size_t n) noexcept {
  // `y` may be `a` or `b` itself, never a shifted part of them.
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) y[i] = apply<op>(a[i], b[i]);
}

template <Operation op, class T>
void run_slice(const CpuArgs& args, const StridedWalk& walk, SliceRange range, bool streams) {
  using C = cpu::Compute<T>;
  alignas(64) C left[cpu::block_elements];
  alignas(64) C right[cpu::block_elements];
  cpu::Operand<T> a{args.in<T>(0), walk, 0, left};
  cpu::Operand<T> b{args.in<T>(1), walk, 1, right};
  cpu::for_blocks(args.out<T>(), range, cpu::block_step(walk, 2), streams,
                  [&](std::size_t first, std::size_t n, C* result) {
                    apply_block<op>(a.block(first, n), b.block(first, n), result, n);
                  });
}

template <Operation op>
Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Strides strides[] = {broadcast_strides(call.shape(0), outputs[0].shape),
                             broadcast_strides(call.shape(1), outputs[0].shape)};
  const StridedWalk walk = strided_walk(outputs[0].shape, strides);
  const std::size_t n = outputs[0].elements();
  const bool streams = outputs[0].bytes() >= cpu::stream_from_bytes;
  const std::uint32_t slices = slice_count(n, std::size_t{32} << 10);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(outputs[0].bytes()) * 0.06;
  visit_dtype(outputs[0].dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>)
      plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                               run_slice<op, T>(args, walk, slice_range(n, slices, index), streams);
                             }});
  });
  return plan;
}

}  // namespace

void implement(CpuTable& table) {
  table.set("elementwise_add", &plan<Operation::add>);
  table.set("elementwise_sub", &plan<Operation::sub>);
  table.set("elementwise_mul", &plan<Operation::mul>);
  table.set("elementwise_div", &plan<Operation::div>);
}

}  // namespace stoker::kernels::elementwise_binary::STOKER_ISA
