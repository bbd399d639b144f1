#include "stoker/pipeline/tensor/files/file_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace stoker::files {
namespace {

std::string unique_suffix() {
  static std::atomic<std::uint64_t> next{0};
  return ".part-" + std::to_string(::getpid()) + "-" + std::to_string(next.fetch_add(1));
}

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::open(const std::filesystem::path& path,
                                                     std::string_view op) {
  std::error_code ignored;
  // A link stays one: what it points to is replaced.
  std::filesystem::path place = std::filesystem::weakly_canonical(path, ignored);
  if (ignored || place.empty()) place = path;
  const bool direct =
      std::filesystem::exists(place, ignored) && !std::filesystem::is_regular_file(place, ignored);
  std::filesystem::path written = place;
  if (!direct) written += unique_suffix();
  const int flags = O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL);
  // The writer first: without memory for it no file would be closed and taken away again.
  auto writer =
      std::make_unique<FileWriter>(-1, std::move(written), std::move(place), std::string{op});
  writer->file_ = ::open(writer->written_.c_str(), flags, 0666);
  if (writer->file_ < 0) return file_error(op, path, errno);
  return writer;
}

FileWriter::FileWriter(int file, std::filesystem::path written, std::filesystem::path place,
                       std::string op)
    : file_{file}, written_{std::move(written)}, place_{std::move(place)}, op_{std::move(op)} {}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  if (written_ != place_) ::unlink(written_.c_str());
}

Result<void> FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return file_error(op_, place_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return {};
}

Result<void> FileWriter::commit() {
  const bool closed = ::close(file_) == 0;
  int error = errno;
  file_ = -1;
  if (closed && (written_ == place_ || ::rename(written_.c_str(), place_.c_str()) == 0)) return {};
  if (closed) error = errno;
  if (written_ != place_) ::unlink(written_.c_str());
  return file_error(op_, place_, error);
}

}  // namespace stoker::files
