// A file that is read from beginning to end. It may be compressed by gzip, which its first bytes
// tell.
//
// Threads: one at a time. Errors are thrown: not_found, io_error (also for truncated or damaged
// compression).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

struct gzFile_s;

namespace stoker::nn {

class PackedFile {
 public:
  PackedFile(const std::filesystem::path& path, std::string op);

  /// Reads the next bytes; fills `target` except at the end.
  [[nodiscard]] std::size_t read(std::span<std::byte> target);
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const noexcept;
  };
  std::string op_;
  std::string name_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace stoker::nn
