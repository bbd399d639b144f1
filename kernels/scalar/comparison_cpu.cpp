#include <cmath>
#include <limits>
#include <type_traits>

#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {
namespace {

struct Equal {
  template <class C> static bool apply(C a, C b) noexcept { return a == b; }
};
struct NotEqual {
  template <class C> static bool apply(C a, C b) noexcept { return a != b; }
};
struct Less {
  template <class C> static bool apply(C a, C b) noexcept { return a < b; }
};
struct LessEqual {
  template <class C> static bool apply(C a, C b) noexcept { return a <= b; }
};
struct Greater {
  template <class C> static bool apply(C a, C b) noexcept { return a > b; }
};
struct GreaterEqual {
  template <class C> static bool apply(C a, C b) noexcept { return a >= b; }
};
struct IsNan {
  template <class C> static bool apply(C a) noexcept { return a != a; }
};
struct IsInfinity {
  template <class C> static bool apply(C a) noexcept {
    if constexpr (std::is_floating_point_v<C>)
      return std::fabs(a) == std::numeric_limits<C>::infinity();
    return false;
  }
};

constexpr LoopSet sets[] = {
    truth<Equal, 2>("equal", Everything{}),
    truth<NotEqual, 2>("not_equal", Everything{}),
    truth<Less, 2>("less", Everything{}),
    truth<LessEqual, 2>("less_equal", Everything{}),
    truth<Greater, 2>("greater", Everything{}),
    truth<GreaterEqual, 2>("greater_equal", Everything{}),
    truth<IsNan, 1>("is_nan", Everything{}),
    truth<IsInfinity, 1>("is_infinity", Everything{}),
};

}  // namespace

std::span<const LoopSet> comparison_loops() noexcept { return sets; }

}  // namespace stoker::kernels::scalar::STOKER_ISA
