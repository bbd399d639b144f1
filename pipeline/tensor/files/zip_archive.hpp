// Zip archives by libzip: entries are streamed in and out.
//
// Threads: one at a time. Lifetime: a reader from memory needs the bytes while it lives. Errors:
// not_found, io_error, unsupported (encrypted entries). Input is not trusted: an entry's claim of its
// size is refused if deflate could not have packed it so small.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stoker/pipeline/tensor/files/byte_source.hpp"

struct zip;

namespace stoker::files {

class ZipReader {
 public:
  [[nodiscard]] static Result<ZipReader> open(const std::filesystem::path& path,
                                              std::string_view op);
  [[nodiscard]] static Result<ZipReader> open(std::span<const std::byte> bytes,
                                              std::string_view op);

  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;  ///< when unpacked
  };
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] Result<Entry> entry(std::size_t index) const;
  /// Calls `read` with what gives the entry's bytes in order, and checks their sum when all of them have
  /// been read.
  [[nodiscard]] Result<void> read(std::size_t index,
                                  const std::function<Result<void>(const Pull&)>& read) const;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  struct Discard {
    void operator()(zip* archive) const noexcept;
  };
  ZipReader(zip* archive, std::string name, std::uint64_t bytes, std::string_view op);
  [[nodiscard]] Error failure(std::string_view what) const;

  std::unique_ptr<zip, Discard> archive_;
  std::string name_;
  std::string op_;
  std::uint64_t bytes_ = 0;  // of the whole archive
  std::size_t count_ = 0;
};

/// What an entry's bytes come from when the archive is written: the next ones, or none at the end.
class ZipInput {
 public:
  virtual ~ZipInput() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// To the beginning.
  virtual void rewind() = 0;
  [[nodiscard]] virtual Result<std::size_t> read(std::span<std::byte> target) = 0;
};

/// An archive that is written to its place as a whole. Inputs are read one after the other in close().
class ZipWriter {
 public:
  [[nodiscard]] static Result<ZipWriter> create(const std::filesystem::path& path,
                                                std::string_view op);
  /// `compress`: deflate; else stored.
  [[nodiscard]] Result<void> add(const std::string& name, std::shared_ptr<ZipInput> input,
                                 bool compress);
  [[nodiscard]] Result<void> close();

 private:
  struct Discard {
    void operator()(zip* archive) const noexcept;
  };
  ZipWriter(zip* archive, std::filesystem::path path, std::string_view op);

  std::unique_ptr<zip, Discard> archive_;
  std::filesystem::path path_;
  std::string op_;
  /// What an input failed with; libzip knows only that it did.
  std::shared_ptr<Error> failed_ = std::make_shared<Error>();
  std::shared_ptr<bool> has_failed_ = std::make_shared<bool>(false);
};

}  // namespace stoker::files
