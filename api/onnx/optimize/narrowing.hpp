// Stores and computes a model's f32 numbers as 16-bit floats, where its device gains.
//
//     Products (Conv, MatMul, LSTM …) become narrow, with Casts of what they read.
//     What follows them (functions of elements, moves, means, normalizations) does so, too.
//     All else keeps f32, with Casts before it. So do inputs, outputs, and what graphs within a node read.
//     On the CPU, and on GPUs that do not compute in 16 bits, nothing gains.
//
// Constants that narrow nodes read become constants of 16 bits, rounded to the nearest, half to even. A node
// stays in f32 if a finite element of such a constant would become infinite, or if its only element would
// become 0.
//
// Threads: any. Errors: none of its own.
#pragma once

#include "stoker/api/onnx/optimize/optimize.hpp"
#include "stoker/api/onnx/optimize/precision.hpp"

namespace stoker::onnx {

struct Narrowed {
  std::shared_ptr<const ModelFile> file;
  PrecisionReport report;
};
/// Returns the same file if nothing becomes narrow, and for models that optimized() does not rewrite. `precision`
/// must not be full. For the other arguments see optimized().
[[nodiscard]] Narrowed with_precision(const std::shared_ptr<const ModelFile>& file,
                                      Precision precision, const OperatorTable& operators,
                                      Evaluate evaluate, const DeviceInfo& device);

}  // namespace stoker::onnx
