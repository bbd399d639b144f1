// Images whose channels are the last axis, for operators of domains with that layout.
//
// Pure functions; any thread.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::onnx {

/// [batch, channels, space…] from [batch, space…, channels]. A tensor of fewer than 3 axes is returned
/// unchanged.
[[nodiscard]] Tensor channels_first(const Tensor& x);
/// The reverse.
[[nodiscard]] Tensor channels_last(const Tensor& x);

}  // namespace stoker::onnx
