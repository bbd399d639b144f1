#include <cmath>
#include <type_traits>

#include "stoker/kernels/cpu/math.hpp"
#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/elementwise_unary/operation.hpp"

namespace stoker::kernels::elementwise_unary::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

template <Operation op>
inline constexpr bool takes_integers =
    op == Operation::relu || op == Operation::abs || op == Operation::neg;

template <Operation op, class C> inline C apply(C x) noexcept {
  if constexpr (op == Operation::relu) return x < C{0} ? C{0} : x;
  if constexpr (op == Operation::neg || op == Operation::abs) {
    C negated;
    if constexpr (std::is_floating_point_v<C>) {
      negated = -x;
    } else {
      using Wrapping = std::make_unsigned_t<decltype(C{} + C{})>;
      negated = static_cast<C>(Wrapping{0} - static_cast<Wrapping>(x));
    }
    if constexpr (op == Operation::neg) return negated;
    if constexpr (std::is_floating_point_v<C>) return std::abs(x);  // also turns -0 into 0
    return x < C{0} ? negated : x;
  }
  if constexpr (std::is_floating_point_v<C>) {
    if constexpr (op == Operation::sigmoid) return cpu::sigmoid(x);
    if constexpr (op == Operation::tanh) return cpu::tanh(x);
    if constexpr (op == Operation::exp) return cpu::exp(x);
    if constexpr (op == Operation::log) return cpu::log(x);
    if constexpr (op == Operation::sqrt) return std::sqrt(x);
  }
}

template <Operation op, class C> void apply_block(const C* x, C* y, std::size_t n) noexcept {
  // `y` may be `x`, never a shifted part of it.
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) y[i] = apply<op>(x[i]);
}

template <Operation op, class T>
void run_slice(const CpuArgs& args, SliceRange range, bool streams) {
  using C = cpu::Compute<T>;
  const T* x = args.in<T>(0);
  alignas(64) C buffer[std::is_same_v<T, C> ? 1 : cpu::block_elements];
  cpu::for_blocks(args.out<T>(), range, cpu::block_elements, streams,
                  [&](std::size_t first, std::size_t n, C* result) {
                    apply_block<op>(cpu::loaded(x + first, buffer, n), result, n);
                  });
}

template <Operation op>
Result<CpuPlan> plan(const KernelCall&, std::span<const TensorSpec> outputs) {
  const std::size_t n = outputs[0].elements();
  const bool streams = outputs[0].bytes() >= cpu::stream_from_bytes;
  const std::uint32_t slices = slice_count(n, std::size_t{32} << 10);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(n) * (takes_integers<op> ? 0.2 : 0.6);
  visit_dtype(outputs[0].dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<cpu::Compute<T>> ||
                  (takes_integers<op> && !std::is_same_v<T, bool>))
      plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                               run_slice<op, T>(args, slice_range(n, slices, index), streams);
                             }});
  });
  return plan;
}

}  // namespace

void implement(CpuTable& table) {
  table.set("relu", &plan<Operation::relu>);
  table.set("sigmoid", &plan<Operation::sigmoid>);
  table.set("tanh", &plan<Operation::tanh>);
  table.set("exp", &plan<Operation::exp>);
  table.set("log", &plan<Operation::log>);
  table.set("sqrt", &plan<Operation::sqrt>);
  table.set("abs", &plan<Operation::abs>);
  table.set("neg", &plan<Operation::neg>);
}

}  // namespace stoker::kernels::elementwise_unary::STOKER_ISA
