#include "stoker/device/commands/step_reads.hpp"

#include <algorithm>

namespace stoker {

bool reads_output_of(const Step& later, const Step& earlier) noexcept {
  const auto overlap = [](const MemoryView& a, const MemoryView& b) {
    return a.block == b.block && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  };
  return std::ranges::any_of(later.inputs, [&](const MemoryView& input) {
    return std::ranges::any_of(earlier.outputs,
                               [&](const MemoryView& output) { return overlap(input, output); });
  });
}

}  // namespace stoker
