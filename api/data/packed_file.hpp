// A file that is read from its beginning to its end, packed by gzip or not: what it begins with
// says.
//
// Threads: one at a time. Errors are thrown: not_found, io_error (torn and damaged packing too).
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

  /// The next bytes; fewer than there is room for only at the end.
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
