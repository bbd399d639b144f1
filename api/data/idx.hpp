// The IDX format of MNIST and similar data sets: images in one file, labels in another, plain or
// gzip-compressed.
//
//     Dataset digits = idx_dataset("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz");
//
// A file consists of two zero bytes, the type (0x08 u8, 0x09 s8, 0x0B s16, 0x0C s32, 0x0D f32, 0x0E
// f64), the rank, the extents in 32 bits each, and the elements; all big-endian.
// http://yann.lecun.com/exdb/mnist Pixels keep their stored dtype unless RowOptions scale them.
//
// Threads: any; blocks on the file. Throws not_found, io_error (another format, truncated files,
// trailing bytes), shape_mismatch (different numbers of rows), and what row_options.hpp says.
#pragma once

#include <filesystem>

#include "stoker/api/data/row_options.hpp"

namespace stoker::nn {

/// Loads a file as a tensor on current_device().
[[nodiscard]] Tensor load_idx(const std::filesystem::path& path);
[[nodiscard]] HostArray read_idx(const std::filesystem::path& path);
/// Reads both files into host memory.
[[nodiscard]] Dataset idx_dataset(const std::filesystem::path& inputs,
                                  const std::filesystem::path& targets,
                                  const RowOptions& options = {});

}  // namespace stoker::nn
