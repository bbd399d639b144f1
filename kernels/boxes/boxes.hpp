// Kernels that pool bins of boxes, but for how a bin is pooled: their inputs, shape rule and GPU version.
//
// They take images [n, channels, rows, columns], boxes [k, 4], each a row [x1, y1, x2, y2], and the image of each box
// [k] in s32, and give [k, channels, height, width].
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "stoker/kernels/kernel.hpp"

namespace stoker::kernels::boxes {

/// What the options of each such kernel say.
struct Bins {
  std::int64_t height, width;  ///< bins of a box
  double scale;                ///< pixels for each unit of the boxes
};
template <TypedKernel K> [[nodiscard]] Bins bins_of(const KernelCall& call) {
  const auto given = options::from<K>(call.params);
  return {given.height, given.width, given.scale};
}

/// What a kernel has of its own.
struct Pooling {
  /// Under kernels/: a thread pools one bin of one channel, as boxes/bin.glsl finds it.
  std::string shader;
  /// Push fields beyond those that boxes/bin.glsl reads.
  std::vector<PushField> push = {};
  Bins (*bins)(const KernelCall& call) = nullptr;
  /// Appends the values of `push`, and sets the pass's rounds.
  void (*finish)(const KernelCall& call, GpuPass& pass) = nullptr;
};

/// Makes `kernel` one of these. Its calls fail with dtype_mismatch and shape_mismatch, also for boxes in images without
/// a pixel.
void pool_bins(Kernel& kernel, Pooling pooling);

}  // namespace stoker::kernels::boxes
