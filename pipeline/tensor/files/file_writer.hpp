// A file that is there as a whole or not at all: it is written beside its place and moved there.
//
// Threads: one at a time. Errors: not_found (no such folder), io_error. What is not committed leaves
// nothing behind. A place that is no regular file (a pipe, a terminal) is written directly.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stoker/pipeline/tensor/files/byte_source.hpp"

namespace stoker::files {

class FileWriter {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FileWriter>> open(const std::filesystem::path& path,
                                                                std::string_view op);
  FileWriter(int file, std::filesystem::path written, std::filesystem::path place, std::string op);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> write(std::string_view text) {
    return write(std::as_bytes(std::span{text}));
  }
  /// Moves the file to its place. Nothing may be written afterwards.
  [[nodiscard]] Result<void> commit();

 private:
  int file_;
  const std::filesystem::path written_;  // equal to place_ where it is written directly
  const std::filesystem::path place_;
  const std::string op_;
};

}  // namespace stoker::files
