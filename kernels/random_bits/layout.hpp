// How the elements of random_bits come from blocks of Threefry: as Nx and JAX lay them out.
//
// The words 0, 1, … W - 1 are counters. They are split in two halves, the second of which gets a 0 at
// its end if W is odd; block j takes word j of both halves. The random words go back to where their
// counters were, so block j yields words j and half + j.
//
// Pure functions on values; any thread may call them.
#pragma once

#include <cstdint>

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::random_bits {

struct Layout {
  std::uint64_t words = 0;   ///< two to an element of u64, else one
  std::uint64_t blocks = 0;  ///< half of the words, rounded up

  [[nodiscard]] static Layout of(const TensorSpec& output) noexcept {
    const std::uint64_t elements = output.elements();
    const std::uint64_t words = output.dtype == DType::u64 ? 2 * elements : elements;
    return {words, (words + 1) / 2};
  }
};

/// Counters have 32 bits.
inline constexpr std::uint64_t max_words = std::uint64_t{1} << 32;

/// How many blocks threefry2x32 computes, and whether it has one key or counter for all of them.
struct Pairs {
  std::uint64_t blocks = 0;
  bool single_key = false;
  bool single_counter = false;

  /// Precondition: the definition has accepted the call.
  [[nodiscard]] static Pairs of(const KernelCall& call, const TensorSpec& output) noexcept {
    return {output.elements() / 2, call.inputs[0].elements() == 2, call.inputs[1].elements() == 2};
  }
};

}  // namespace stoker::kernels::random_bits
