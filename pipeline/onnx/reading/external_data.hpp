// The files beside a model that hold its large tensors.
//
// Threads: one at a time. Each file is mapped once, however many tensors lie in it. A path is not trusted: it is
// relative, has no "..", and leads, links resolved, to a regular file below the model's folder, or below that of the
// file that a link to the model leads to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stoker/pipeline/onnx/graph/tensor_data.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"

namespace stoker::onnx {

class ExternalData {
 public:
  /// `folders` may be empty: then nothing is found.
  explicit ExternalData(std::vector<std::filesystem::path> folders) noexcept
      : folders_{std::move(folders)} {}

  /// `length` bytes from `offset` on of the file at `location`. permission_denied: the path leads elsewhere; not_found;
  /// io_error: it cannot be read, or ends before. The reason names the location.
  [[nodiscard]] Result<SharedBytes> bytes(const std::string& location, std::uint64_t offset,
                                          std::uint64_t length);
  [[nodiscard]] std::vector<std::shared_ptr<const files::ByteSource>> files() const;

 private:
  [[nodiscard]] Result<std::shared_ptr<const files::ByteSource>> file(const std::string& location);

  const std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::shared_ptr<const files::ByteSource>> open_;  // by location, which may
  std::map<std::filesystem::path, std::shared_ptr<const files::ByteSource>>
      files_;  // name one twice
};

/// The folders whose files a model at `path` may name.
[[nodiscard]] std::vector<std::filesystem::path> folders_of(const std::filesystem::path& path);

}  // namespace stoker::onnx
