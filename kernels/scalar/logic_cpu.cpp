#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {
namespace {

struct And {
  template <class C> static bool apply(C a, C b) noexcept { return (a != C{0}) & (b != C{0}); }
};
struct Or {
  template <class C> static bool apply(C a, C b) noexcept { return (a != C{0}) | (b != C{0}); }
};
struct Xor {
  template <class C> static bool apply(C a, C b) noexcept { return (a != C{0}) != (b != C{0}); }
};
struct Not {
  template <class C> static bool apply(C a) noexcept { return a == C{0}; }
};

/// condition ≠ 0 ? a : b; the condition is bytes, whatever the others are.
template <class C> void select(const void* const* operands, void* result, std::size_t n) noexcept {
  const auto* condition = static_cast<const std::uint8_t*>(operands[0]);
  const auto* a = static_cast<const C*>(operands[1]);
  const auto* b = static_cast<const C*>(operands[2]);
  auto* out = static_cast<C*>(result);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const C on_true = a[i];  // read both: a conditional load is not vectorised
    const C on_false = b[i];
    out[i] = condition[i] != 0 ? on_true : on_false;
  }
}

template <class... T> constexpr LoopSet selects(Types<T...>) {
  LoopSet set{"select"};
  ((set.by_operand[index_of<T>] = &select<Element<T>>), ...);
  return set;
}

constexpr LoopSet sets[] = {
    truth<And, 2>("logical_and", Everything{}),
    truth<Or, 2>("logical_or", Everything{}),
    truth<Xor, 2>("logical_xor", Everything{}),
    truth<Not, 1>("logical_not", Everything{}),
    selects(Everything{}),
};

}  // namespace

std::span<const LoopSet> logic_loops() noexcept { return sets; }

}  // namespace stoker::kernels::scalar::STOKER_ISA
