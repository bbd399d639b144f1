// Tensors in safetensors files: weights by name, read one by one.
//
//     const SafetensorsFile weights = open_safetensors("model.safetensors");  // reads the header only
//     for (const std::string& name : weights.names()) std::cout << name << weights.spec(name).to_string();
//     Tensor embedding = weights.load("embedding");
//
// https://huggingface.co/docs/safetensors. serialize() uses this format.
//
// Threads: any; a SafetensorsFile is a shared handle to immutable data. Loaded tensors live on
// current_device() and do not need the file any more. Loading and saving block: do not call them on
// a host's event loop. Memory: the tensors, and a few chunks of 16 MiB. Errors are thrown:
// not_found, io_error (damaged files: headers, offsets and sizes are checked when the file is
// opened), unsupported (a dtype without a counterpart, named), out_of_memory. Input is not trusted.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

struct SafetensorsOptions {
  /// Maps the file: pages are read on demand and released after each tensor is loaded. Off: plain
  /// reads, for files that others may truncate meanwhile (which kills a process that maps them),
  /// and for file systems that cannot map.
  bool mapped = true;
};

using TensorMap = std::map<std::string, Tensor>;
using TensorMetadata = std::map<std::string, std::string>;

class SafetensorsFile {
 public:
  [[nodiscard]] std::size_t size() const noexcept;
  /// In alphabetical order.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(std::string_view name) const noexcept;
  /// Throws not_found.
  [[nodiscard]] const TensorSpec& spec(std::string_view name) const;
  [[nodiscard]] const TensorMetadata& metadata() const noexcept;
  /// Throws not_found.
  [[nodiscard]] Tensor load(std::string_view name) const;
  [[nodiscard]] TensorMap load_all() const;
  /// The elements of one tensor, row-major, without a device. Throws not_found.
  [[nodiscard]] std::vector<std::byte> bytes_of(std::string_view name) const;

 private:
  struct State;
  explicit SafetensorsFile(std::shared_ptr<const State> state) noexcept
      : state_{std::move(state)} {}
  friend SafetensorsFile open_safetensors(const std::filesystem::path&, const SafetensorsOptions&);
  friend SafetensorsFile open_safetensors(std::span<const std::byte>);
  std::shared_ptr<const State> state_;
};

[[nodiscard]] SafetensorsFile open_safetensors(const std::filesystem::path& path,
                                               const SafetensorsOptions& options = {});
/// Opens a file in memory. The bytes must outlive the returned object.
[[nodiscard]] SafetensorsFile open_safetensors(std::span<const std::byte> bytes);

[[nodiscard]] TensorMap load_safetensors(const std::filesystem::path& path,
                                         const SafetensorsOptions& options = {});
void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                      const TensorMetadata& metadata = {});
[[nodiscard]] std::vector<std::byte> safetensors_to_bytes(const TensorMap& tensors,
                                                          const TensorMetadata& metadata = {});

}  // namespace stoker
