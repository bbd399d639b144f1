// What dense layers are made of: x · kernel + bias along the last axis.
//
//     Tensor y = projected(x, kernel, bias);   // [batch, …, in] with [in, out]: [batch, …, out]
//
// All rows go through one product of two matrices, so that the kernel's gradient is one, too:
// matmul() of more axes would form one for each of the batch and add them up.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

/// Without a bias only the product.
[[nodiscard]] Tensor projected(const Tensor& x, const Tensor& kernel, const Tensor& bias = {});

}  // namespace stoker::nn
