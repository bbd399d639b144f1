// Tensors in NumPy files: .npy holds one, .npz several by name.
//
//     save_npy("x.npy", x);
//     Tensor y = load_npy("x.npy");
//     for (const auto& [name, tensor] : load_npz("weights.npz")) …
//
// Read: versions 1 to 3, C and Fortran order, either byte order, stored and deflated archives.
// Every dtype survives a round trip; bf16, which NumPy lacks, is stored like ml_dtypes does, as two
// opaque bytes (V2). Written: version 1, C order, little-endian.
//
// Threads: any. Loaded tensors live on current_device(). Calls block on the file and on the tensors
// they save: do not use them on a host's event loop. Memory: the tensors, and a few chunks of 16
// MiB. Errors are thrown: not_found, io_error (damaged files, full disks), unsupported (structured
// dtypes, objects, text, times, complex numbers; named), out_of_memory. Files are written
// completely or not at all. Input is not trusted.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

[[nodiscard]] Tensor load_npy(const std::filesystem::path& path);
/// From a file in memory.
[[nodiscard]] Tensor npy_from_bytes(std::span<const std::byte> bytes);
void save_npy(const std::filesystem::path& path, const Tensor& tensor);
[[nodiscard]] std::vector<std::byte> npy_to_bytes(const Tensor& tensor);

/// Arrays by name, without ".npy".
[[nodiscard]] std::map<std::string, Tensor> load_npz(const std::filesystem::path& path);
[[nodiscard]] std::map<std::string, Tensor> npz_from_bytes(std::span<const std::byte> bytes);

struct NpzOptions {
  bool compressed = false;  ///< compress with deflate, like savez_compressed
};
void save_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
              const NpzOptions& options = {});

}  // namespace stoker
