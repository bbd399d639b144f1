// Tensors in NumPy's files: .npy holds one, .npz holds several by name.
//
//     save_npy("x.npy", x);
//     Tensor y = load_npy("x.npy");
//     for (const auto& [name, tensor] : load_npz("weights.npz")) …
//
// Read: versions 1 to 3, C and Fortran order, either byte order, stored and deflated archives. Every
// dtype goes there and back; bf16, which NumPy lacks, is what ml_dtypes makes of it: two opaque bytes
// (V2). Written: version 1, C order, little-endian.
//
// Threads: any. What is loaded lives on current_device(). Calls wait for the file and for the tensors
// they save, so none belongs on a host's event loop. Memory: beside the tensors a few pieces of 16 MiB.
// Errors are thrown: not_found, io_error (damaged files, full disks), unsupported (structured dtypes,
// objects, text, times, complex numbers; named), out_of_memory. A file that could not be written as a
// whole is not there. Input is not trusted.
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

/// By name, without ".npy".
[[nodiscard]] std::map<std::string, Tensor> load_npz(const std::filesystem::path& path);
[[nodiscard]] std::map<std::string, Tensor> npz_from_bytes(std::span<const std::byte> bytes);

struct NpzOptions {
  bool compressed = false;  ///< deflate, as savez_compressed does; else stored
};
void save_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
              const NpzOptions& options = {});

}  // namespace stoker
