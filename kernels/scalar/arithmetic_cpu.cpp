#include <cmath>
#include <type_traits>

#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {
namespace {

/// The unsigned type in which integer arithmetic wraps: at least as wide as int, so that small
/// operands are not promoted to a signed type that overflows.
template <class C> using Wrapping = std::make_unsigned_t<decltype(C{} + C{})>;

template <class C, class Body> inline C wrapping(C a, C b, Body body) noexcept {
  if constexpr (std::is_floating_point_v<C>)
    return body(a, b);
  else
    return static_cast<C>(body(static_cast<Wrapping<C>>(a), static_cast<Wrapping<C>>(b)));
}

struct Add {
  template <class C> static C apply(C a, C b) noexcept {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Subtract {
  template <class C> static C apply(C a, C b) noexcept {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Multiply {
  template <class C> static C apply(C a, C b) noexcept {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Divide {
  template <class C> static C apply(C a, C b) noexcept { return a / b; }
};

/// a / b toward zero. Up to 32 bits through a float type wide enough that the truncated quotient
/// is exact; that vectorises, integer division does not.
template <class C> inline C quotient(C a, C b) noexcept {
  if constexpr (sizeof(C) == 8) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<C>)
      if (b == -1) return static_cast<C>(Wrapping<C>{0} - static_cast<Wrapping<C>>(a));
    return a / b;
  } else {
    using Real = std::conditional_t<sizeof(C) == 4, double, float>;
    // Wide enough for -min / -1, which then wraps on its way to C.
    using Whole = std::conditional_t<sizeof(C) == 4, std::int64_t, std::int32_t>;
    const Real divisor = b == 0 ? Real{1} : static_cast<Real>(b);
    const C result = static_cast<C>(static_cast<Whole>(static_cast<Real>(a) / divisor));
    return b == 0 ? C{0} : result;
  }
}
struct Quotient {
  template <class C> static C apply(C a, C b) noexcept { return quotient(a, b); }
};
struct Remainder {
  template <class C> static C apply(C a, C b) noexcept {
    if constexpr (std::is_floating_point_v<C>)
      return std::fmod(a, b);
    else
      return b == 0 ? C{0} : Subtract::apply(a, Multiply::apply(quotient(a, b), b));
  }
};

// NOLINTBEGIN(misc-redundant-expression): NaN differs from itself.
struct Max {
  template <class C> static C apply(C a, C b) noexcept { return a > b || a != a ? a : b; }
};
struct Min {
  template <class C> static C apply(C a, C b) noexcept { return a < b || a != a ? a : b; }
};
// NOLINTEND(misc-redundant-expression)
struct Relu {
  template <class C> static C apply(C a) noexcept { return Max::apply(a, C{0}); }
};
struct Negate {
  template <class C> static C apply(C a) noexcept {
    if constexpr (std::is_floating_point_v<C>)
      return -a;
    else
      return static_cast<C>(Wrapping<C>{0} - static_cast<Wrapping<C>>(a));
  }
};
struct Abs {
  template <class C> static C apply(C a) noexcept {
    if constexpr (std::is_floating_point_v<C>) return std::fabs(a);
    return a < C{0} ? Negate::apply(a) : a;
  }
};
struct Sign {
  template <class C> static C apply(C a) noexcept {
    return a > C{0} ? C{1} : a < C{0} ? static_cast<C>(-1) : a;
  }
};

// Integers are whole already.
struct Floor {
  template <class C> static C apply(C a) noexcept {
    if constexpr (std::is_floating_point_v<C>) return std::floor(a);
    return a;
  }
};
struct Ceil {
  template <class C> static C apply(C a) noexcept {
    if constexpr (std::is_floating_point_v<C>) return std::ceil(a);
    return a;
  }
};
struct Round {
  template <class C> static C apply(C a) noexcept {
    if constexpr (std::is_floating_point_v<C>) {
      // Not floor(a + ½): that addition rounds.
      const C whole = std::trunc(a);
      const C away = std::fabs(a - whole) >= C{0.5} ? C{1} : C{0};
      return std::copysign(std::fabs(whole) + away, a);
    }
    return a;
  }
};

constexpr LoopSet sets[] = {
    same<Add, 2>("add", Numbers{}),
    same<Subtract, 2>("subtract", Numbers{}),
    same<Multiply, 2>("multiply", Numbers{}),
    same<Divide, 2>("divide", Floats{}),
    same<Quotient, 2>("quotient", Integers{}),
    same<Remainder, 2>("remainder", Numbers{}),
    same<Max, 2>("max", Numbers{}),
    same<Min, 2>("min", Numbers{}),
    same<Relu, 1>("relu", Numbers{}),
    same<Negate, 1>("negate", Numbers{}),
    same<Abs, 1>("abs", Numbers{}),
    same<Sign, 1>("sign", Numbers{}),
    same<Floor, 1>("floor", Numbers{}),
    same<Ceil, 1>("ceil", Numbers{}),
    same<Round, 1>("round", Numbers{}),
};

}  // namespace

std::span<const LoopSet> arithmetic_loops() noexcept { return sets; }

}  // namespace stoker::kernels::scalar::STOKER_ISA
