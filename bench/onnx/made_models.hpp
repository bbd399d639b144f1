// The models of the group `onnx` that no folder has to bring, written in the layout of ONNX's backend tests
// (model.onnx, test_data_set_N/input_0.pb), the same in every run.
//
//     mlp       784-256-128-10, ReLU between; sets: 1 row, 32 rows
//     cnn       28×28: convolutions 16 and 32 of 3×3, each with ReLU and a 2×2 pool, dense 128 and 10; 1 and 32
//     encoder   a block of 256 features, 4 heads, 1024 hidden ones, 128 tokens, spelled as PyTorch exports it; 1, 8, 32
//     add       a + a, 16 elements
//     relu      ReLU of 16 elements
//     count     the places of its positive ones, of which only the run knows how many there are
//     packed    a product of 4096 features with as many, in 4 bits, blocks of 32 (MatMulNBits); 1 row, 32 rows
//     large     a product with 256 MiB of weights, which lie in a file beside the model
//
// Threads: one. Errors are thrown: std::runtime_error, std::filesystem::filesystem_error.
#pragma once

#include <filesystem>

namespace stoker::bench {

constexpr double large_weight_bytes = 256.0 * (1 << 20);

/// Into folders of these names below `folder`: all but `large`.
void write_made_models(const std::filesystem::path& folder);
void write_large_model(const std::filesystem::path& folder);

}  // namespace stoker::bench
