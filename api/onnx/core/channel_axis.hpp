// Images whose channels stand behind the space, for operators of domains that have them so.
//
// Pure functions; any thread.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::onnx {

/// [batch, channels, space…] of [batch, space…, channels]. A tensor of fewer than 3 axes stays as it is.
[[nodiscard]] Tensor channels_first(const Tensor& x);
/// The way back.
[[nodiscard]] Tensor channels_last(const Tensor& x);

}  // namespace stoker::onnx
