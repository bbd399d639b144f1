// Copies and fills as CPU plans, so that they share the pool's way of running things.
#pragma once

#include <memory>

#include "stoker/device/cpu/job.hpp"

namespace stoker::device::cpu {

/// Copies args.inputs[0] to args.outputs[0], `bytes` long; the two do not overlap.
[[nodiscard]] std::shared_ptr<const CpuExecutable> copy_executable(std::uint64_t bytes);

/// Repeats the step's pattern over args.outputs[0], `bytes` long (a multiple of the pattern).
[[nodiscard]] std::shared_ptr<const CpuExecutable> fill_executable(std::uint64_t bytes,
                                                                   std::array<std::byte, 8> pattern,
                                                                   std::uint8_t pattern_bytes);

}  // namespace stoker::device::cpu
