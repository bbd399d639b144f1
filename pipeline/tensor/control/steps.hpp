// What drives branches and loops: the host reads a condition when the device has computed it and starts
// what follows. Nobody waits meanwhile; results are held back until they are there.
//
// Threads: as host_step.hpp says; continuations run on the device's executor, one after the other.
#pragma once

#include "stoker/pipeline/tensor/graph/function.hpp"
#include "stoker/pipeline/tensor/graph/host_step.hpp"

namespace stoker::expr {

/// Inputs: the condition (u8), then what both functions take. Runs the first function if it is not 0,
/// else the second.
[[nodiscard]] Result<std::shared_ptr<const HostStep>> cond_step(
    const Function& yes, const Function& no, const std::shared_ptr<DeviceClient>& device);

/// Inputs: `states` values, then captures. `condition` of both gives a u8, `body` the next states; runs
/// the body while the condition is not 0, at most `most` times if that is not 0.
[[nodiscard]] Result<std::shared_ptr<const HostStep>> while_step(
    const Function& condition, const Function& body, std::size_t states, std::int64_t most,
    const std::shared_ptr<DeviceClient>& device);

struct ScanShape {
  std::int64_t length = 0;
  std::size_t carries = 0;
  std::size_t sequences = 0;  ///< inputs that are taken apart along their first axis
  bool reverse = false;       ///< the last element first
};
/// Inputs: carries, sequences, captures. `body` takes the position (s32), the carries, an element of
/// each sequence and the captures, and gives the next carries and an element of each result.
[[nodiscard]] Result<std::shared_ptr<const HostStep>> scan_step(
    const Function& body, const ScanShape& shape, const std::shared_ptr<DeviceClient>& device);

}  // namespace stoker::expr
