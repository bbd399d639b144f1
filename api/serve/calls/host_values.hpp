// Outputs of a model whose elements the host has, without a thread that waits for them.
//
// Threads: any; nothing blocks.
#pragma once

#include "stoker/api/model/core/model.hpp"

namespace stoker::serve {

/// The computed outputs as onnx::Known, so that writing them waits for nothing. Sequences and maps stay as they are.
/// Errors are in the future: device_lost and others of reading. cancel() on it drops the copies.
[[nodiscard]] Future<NamedValues> on_host(const Device& device, const NamedValues& outputs);

}  // namespace stoker::serve
