#include <bit>
#include <type_traits>

#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {
namespace {

template <class C> using Unsigned = std::make_unsigned_t<C>;

struct And {
  template <class C> static C apply(C a, C b) noexcept { return static_cast<C>(a & b); }
};
struct Or {
  template <class C> static C apply(C a, C b) noexcept { return static_cast<C>(a | b); }
};
struct Xor {
  template <class C> static C apply(C a, C b) noexcept { return static_cast<C>(a ^ b); }
};
struct Not {
  template <class C> static C apply(C a) noexcept { return static_cast<C>(~a); }
};

/// The arithmetic is that of at least int's width, where every count below `width` is defined.
template <class C> inline constexpr C width = static_cast<C>(8 * sizeof(C));
template <class C> inline bool beyond(C count) noexcept {
  return static_cast<Unsigned<C>>(count) >= static_cast<Unsigned<C>>(width<C>);
}

struct LeftShift {
  template <class C> static C apply(C a, C count) noexcept {
    using Wide = std::make_unsigned_t<decltype(C{} << 1)>;
    const C bounded = beyond(count) ? C{0} : count;
    const C shifted = static_cast<C>(static_cast<Wide>(a) << bounded);
    return beyond(count) ? C{0} : shifted;
  }
};
struct RightShift {
  template <class C> static C apply(C a, C count) noexcept {
    constexpr C most = static_cast<C>(width<C> - 1);
    const C bounded = beyond(count) ? most : count;
    const C shifted = static_cast<C>(a >> bounded);
    if constexpr (std::is_signed_v<C>) return shifted;  // the sign, from `most` on
    return beyond(count) ? C{0} : shifted;
  }
};
struct PopulationCount {
  template <class C> static C apply(C a) noexcept {
    return static_cast<C>(std::popcount(static_cast<Unsigned<C>>(a)));
  }
};
struct CountLeadingZeros {
  template <class C> static C apply(C a) noexcept {
    return static_cast<C>(std::countl_zero(static_cast<Unsigned<C>>(a)));
  }
};

constexpr LoopSet sets[] = {
    same<And, 2>("bitwise_and", Integers{}),
    same<Or, 2>("bitwise_or", Integers{}),
    same<Xor, 2>("bitwise_xor", Integers{}),
    same<Not, 1>("bitwise_not", Integers{}),
    same<LeftShift, 2>("left_shift", Integers{}),
    same<RightShift, 2>("right_shift", Integers{}),
    same<PopulationCount, 1>("population_count", Integers{}),
    same<CountLeadingZeros, 1>("count_leading_zeros", Integers{}),
};

}  // namespace

std::span<const LoopSet> bits_loops() noexcept { return sets; }

}  // namespace stoker::kernels::scalar::STOKER_ISA
