// What a convolution by oneDNN reads and writes: the order in memory, and the order the library wants.
//
// Immutable once settled; any thread. Compiled once per instruction set. oneDNN's own errors
// (dnnl::error) pass through.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <dnnl.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace stoker::kernels::conv::STOKER_ISA {

using Desc = dnnl::memory::desc;

/// Room for so many bytes, so that what follows begins at a cache line.
[[nodiscard]] inline std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// A dense array [groups, a, b, spatial…] that is read from, or added up into, memory with steps.
struct Strided {
  std::array<std::int64_t, 6> extents{1, 1, 1, 1, 1, 1};
  std::array<std::int64_t, 6> steps{};
  std::int64_t first = 0;

  [[nodiscard]] std::int64_t rows() const noexcept { return extents[0] * extents[1] * extents[2]; }
  [[nodiscard]] std::int64_t row() const noexcept { return extents[3] * extents[4] * extents[5]; }
  [[nodiscard]] bool dense() const noexcept {
    std::int64_t step = 1;
    for (std::size_t i = 6; i-- > 0; step *= extents[i])
      if (extents[i] > 1 && steps[i] != step) return false;
    return first == 0;
  }
  /// visit(dense index, index in memory) for every element of some rows.
  template <class Visit> void walk(std::int64_t begin, std::int64_t end, Visit&& visit) const {
    const auto [groups, a, b, z, y, x] = extents;
    for (std::int64_t r = begin, i = begin * row(); r < end; ++r) {
      const std::int64_t at =
          first + r / (a * b) * steps[0] + r / b % a * steps[1] + r % b * steps[2];
      for (std::int64_t d = 0; d < z; ++d)
        for (std::int64_t h = 0; h < y; ++h)
          for (std::int64_t w = 0; w < x; ++w)
            visit(i++, at + d * steps[3] + h * steps[4] + w * steps[5]);
    }
  }
};

/// An operand as it lies in memory and as the library wants it.
struct Operand {
  Desc own, used;
  std::shared_ptr<const dnnl::reorder> move;  ///< if those differ
  bool written = false;

  /// Copies between the two orders where they differ. `writes`: it is computed, not read.
  void settle(const dnnl::engine& engine, Desc wanted, bool writes) {
    used = std::move(wanted);
    written = writes;
    if (used == own) return;
    move = std::make_shared<const dnnl::reorder>(
        writes ? dnnl::reorder::primitive_desc(engine, used, engine, own)
               : dnnl::reorder::primitive_desc(engine, own, engine, used));
  }
  [[nodiscard]] std::size_t scratch() const { return move ? aligned(used.get_size()) : 0; }
};

/// A part of an operand along its first axis, which is copied on its own: threads may share the copy.
struct Piece {
  Desc own, used;  ///< both begin where the whole operand does
  dnnl::reorder move;
};

/// At most `wanted` pieces that are the whole of an operand with a `move`, which is read.
[[nodiscard]] inline std::vector<Piece> pieces_of(const dnnl::engine& engine, const Operand& of,
                                                  std::int64_t wanted) {
  const auto whole = [&] { return std::vector<Piece>{{of.own, of.used, *of.move}}; };
  const dnnl_memory_desc_t& used = of.used.data;
  if (used.format_kind != dnnl_blocked || used.extra.flags != 0) return whole();
  std::int64_t block = 1;
  const dnnl_blocking_desc_t& blocks = used.format_desc.blocking;
  for (int i = 0; i < blocks.inner_nblks; ++i)
    if (blocks.inner_idxs[i] == 0) block *= blocks.inner_blks[i];
  const std::int64_t rows = used.dims[0], count = (rows + block - 1) / block;
  const std::int64_t pieces = std::min(wanted, count);
  std::vector<Piece> made;
  for (std::int64_t i = 0; i < pieces; ++i) {
    dnnl::memory::dims from(static_cast<std::size_t>(used.ndims)), extents = of.used.dims();
    from[0] = count * i / pieces * block;
    extents[0] = std::min(rows, count * (i + 1) / pieces * block) - from[0];
    const Desc own = of.own.submemory_desc(extents, from, true);
    const Desc wants = of.used.submemory_desc(extents, from, true);
    if (!own || !wants) return whole();
    made.push_back({own, wants, dnnl::reorder({engine, own, engine, wants})});
  }
  return made;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
