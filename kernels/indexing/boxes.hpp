// Boxes of images: a row [x1, y1, x2, y2] for each, and the position of its image in s32.
//
// Pure; any thread.
#pragma once

#include "stoker/kernels/kernel.hpp"

namespace stoker::indexing {

/// What a kernel gives of images [n, channels, rows, columns], boxes [k, 4] and their images [k], with so many bins in
/// each box. dtype_mismatch and shape_mismatch, also for boxes in images without a pixel.
[[nodiscard]] Result<std::vector<TensorSpec>> bins_of_boxes(const char* op, const KernelCall& call,
                                                            std::int64_t height,
                                                            std::int64_t width);

}  // namespace stoker::indexing
