// The IDX format, in which MNIST and its like are handed out: images in one file, labels in
// another, plain or packed by gzip.
//
//     Dataset digits = idx_dataset("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz");
//
// A file: two bytes 0, the type (0x08 u8, 0x09 s8, 0x0B s16, 0x0C s32, 0x0D f32, 0x0E f64), the
// rank, the extents as 32 bits each, the elements; all big-endian.
// http://yann.lecun.com/exdb/mnist
// Pixels stay as they are stored: Loader's map makes numbers of them.
//
// Threads: any; waits for the file. Errors are thrown: not_found, io_error (another format, torn
// files, bytes behind the end), shape_mismatch (different numbers of rows).
#pragma once

#include <filesystem>

#include "stoker/api/data/dataset.hpp"

namespace stoker::nn {

/// On current_device().
[[nodiscard]] Tensor load_idx(const std::filesystem::path& path);
[[nodiscard]] HostArray read_idx(const std::filesystem::path& path);
/// Kept in the host's memory.
[[nodiscard]] Dataset idx_dataset(const std::filesystem::path& inputs,
                                  const std::filesystem::path& targets);

}  // namespace stoker::nn
