#include <bit>

#include "stoker/kernels/concatenate/parts.hpp"
#include "stoker/kernels/cpu/copy_plan.hpp"
#include "stoker/kernels/indexing/runs.hpp"

namespace stoker::kernels::concatenate::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;
namespace indexing_isa = stoker::indexing::STOKER_ISA;

/// Copies `rows` runs that are adjacent in `from` and `stride` bytes apart in `to`.
using CopyRuns = void (*)(const std::byte* from, std::byte* to, std::size_t bytes,
                          std::size_t stride, std::size_t rows);

template <class T>
void copy_elements(const std::byte* from, std::byte* to, std::size_t, std::size_t stride,
                   std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(to + row * stride, from + row * sizeof(T), sizeof(T));
}

void copy_short(const std::byte* from, std::byte* to, std::size_t bytes, std::size_t stride,
                std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row, from += bytes, to += stride) {
    // Whole words, the last one overlapping the one before.
    std::size_t i = 0;
    std::uint64_t word;
    for (; i + 8 <= bytes; i += 8) {
      std::memcpy(&word, from + i, 8);
      std::memcpy(to + i, &word, 8);
    }
    if (i == bytes) continue;
    if (bytes >= 8) {
      std::memcpy(&word, from + bytes - 8, 8);
      std::memcpy(to + bytes - 8, &word, 8);
    } else {
      for (; i < bytes; ++i) to[i] = from[i];
    }
  }
}

void copy_long(const std::byte* from, std::byte* to, std::size_t bytes, std::size_t stride,
               std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(to + row * stride, from + row * bytes, bytes);
}

CopyRuns copy_for(std::size_t bytes) {
  switch (bytes) {
    case 1: return copy_elements<std::uint8_t>;
    case 2: return copy_elements<std::uint16_t>;
    case 4: return copy_elements<std::uint32_t>;
    case 8: return copy_elements<std::uint64_t>;
    default: return bytes < indexing_isa::short_run_bytes ? copy_short : copy_long;
  }
}

/// A block of rows is built in the first-level cache.
constexpr std::size_t block_bytes = std::size_t{16} << 10;

/// Rows so short that several fit a block, into which input after input writes its part.
CpuStage stage_of_rows(const Parts& all) {
  const std::size_t bytes = all.rows * all.row_bytes;
  const std::size_t block = block_bytes / all.row_bytes;
  const bool streams = bytes >= cpu::stream_from_bytes;
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(slice_count(bytes, std::size_t{128} << 10), all.rows));
  return {slices, [=](const CpuArgs& args, std::uint32_t index) {
            alignas(64) std::byte staged[block_bytes];
            const SliceRange range = slice_range(all.rows, slices, index, 64);
            for (std::size_t row = range.begin; row < range.end; row += block) {
              const std::size_t rows = std::min(block, range.end - row);
              std::byte* const to = args.out<std::byte>() + row * all.row_bytes;
              for (const Parts::Part& part : all.parts)
                copy_for(part.bytes)(args.in<std::byte>(part.input) + row * part.bytes,
                                     (streams ? staged : to) + part.start, part.bytes,
                                     all.row_bytes, rows);
              if (streams) cpu::stream_copy(to, staged, rows * all.row_bytes);
            }
            if (streams) cpu::stream_fence();
          }};
}

/// Long rows are cut anywhere.
CpuStage stage_of_bytes(const Parts& all) {
  const std::size_t bytes = all.rows * all.row_bytes;
  const std::uint32_t slices = slice_count(bytes, std::size_t{256} << 10);
  const bool streams = bytes >= cpu::stream_from_bytes;
  return {slices, [=](const CpuArgs& args, std::uint32_t index) {
            const SliceRange range = slice_range(bytes, slices, index, 4096);
            for (std::size_t at = range.begin; at < range.end;) {
              const std::size_t row = at / all.row_bytes;
              const std::size_t start = row * all.row_bytes;
              for (const Parts::Part& part : all.parts) {
                const std::size_t begin = std::max(at, start + part.start);
                const std::size_t end = std::min(range.end, start + part.start + part.bytes);
                if (begin >= end) continue;
                const std::byte* from = args.in<std::byte>(part.input) + row * part.bytes +
                                        (begin - start - part.start);
                indexing_isa::move_dense(from, args.out<std::byte>() + begin, end - begin, streams);
              }
              at = start + all.row_bytes;
            }
            if (streams) cpu::stream_fence();
          }};
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  if (call.inputs.size() == 1) return cpu::copy_plan(outputs[0].bytes());
  STOKER_ASSIGN(const std::size_t axis, joined_axis(call));
  const Parts all = parts(call, axis);
  const bool short_rows = all.rows > 1 && all.row_bytes <= block_bytes / 4;
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(outputs[0].bytes()) * (short_rows ? 0.2 : 0.1);
  plan.stages.push_back(short_rows ? stage_of_rows(all) : stage_of_bytes(all));
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("concatenate", &plan); }

}  // namespace stoker::kernels::concatenate::STOKER_ISA
