#include "stoker/pipeline/tensor/files/byte_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <vector>

namespace stoker::files {
namespace {

Result<void> check_range(const ByteSource& source, std::uint64_t offset, std::size_t bytes) {
  if (offset <= source.size() && bytes <= source.size() - offset) return {};
  return damaged("read", source.name(), "the file ends too early");
}

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) noexcept : bytes_{bytes} {}
  explicit MemorySource(std::vector<std::byte> own) noexcept : own_{std::move(own)}, bytes_{own_} {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  [[nodiscard]] Result<void> read(std::uint64_t offset,
                                  std::span<std::byte> target) const override {
    STOKER_TRY(check_range(*this, offset, target.size()));
    if (!target.empty()) std::memcpy(target.data(), bytes_.data() + offset, target.size());
    return {};
  }
  [[nodiscard]] std::span<const std::byte> view() const noexcept override { return bytes_; }
  [[nodiscard]] std::string name() const override { return "bytes in memory"; }

 private:
  const std::vector<std::byte> own_;
  const std::span<const std::byte> bytes_;
};

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_{number} {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return number_; }

 private:
  const int number_;
};

class PlainFile final : public ByteSource {
 public:
  PlainFile(std::filesystem::path path, std::unique_ptr<Descriptor> file, std::uint64_t size)
      : path_{std::move(path)}, file_{std::move(file)}, size_{size} {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] Result<void> read(std::uint64_t offset,
                                  std::span<std::byte> target) const override {
    STOKER_TRY(check_range(*this, offset, target.size()));
    while (!target.empty()) {
      const ssize_t got =
          ::pread(file_->get(), target.data(), target.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return file_error("read", path_, errno);
      if (got == 0) return damaged("read", name(), "the file ends too early");
      target = target.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return {};
  }
  [[nodiscard]] std::string name() const override { return path_.string(); }

 private:
  const std::filesystem::path path_;
  const std::unique_ptr<Descriptor> file_;
  const std::uint64_t size_;
};

/// What the system says of an open file.
struct FileState {
  timespec clock{};  ///< before it was asked; file systems take times of files from this one
  struct stat about {};

  /// False if there is none.
  [[nodiscard]] bool read(int descriptor) noexcept {
    return ::clock_gettime(CLOCK_REALTIME_COARSE, &clock) == 0 && ::fstat(descriptor, &about) == 0;
  }
  /// Whether a write from now on changes its times. It does not within the tick of the clock that the last one fell
  /// into; a tick of file systems that count whole seconds is up to two of them. Files without a name are memory of a
  /// program, mostly, which writes to it through a map.
  [[nodiscard]] bool tells_writes() const noexcept {
    const timespec& last = about.st_ctim;
    const auto end = last.tv_sec + (last.tv_nsec == 0 ? 2 : 0);
    return about.st_nlink > 0 &&
           (clock.tv_sec > end || (clock.tv_sec == end && clock.tv_nsec > last.tv_nsec));
  }
};

/// Keeps no descriptor of a file that has a path: a model may lie in more files than a process may open.
class MappedFile final : public ByteSource {
 public:
  MappedFile(std::filesystem::path path, std::filesystem::path absolute,
             std::unique_ptr<Descriptor> kept, const FileState& state, void* area) noexcept
      : path_{std::move(path)},
        absolute_{std::move(absolute)},
        file_{std::move(kept)},
        size_{static_cast<std::size_t>(state.about.st_size)},
        opened_{state.about},
        tells_writes_{state.tells_writes()},
        area_{static_cast<std::byte*>(area)} {}
  ~MappedFile() override { ::munmap(area_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] Result<void> read(std::uint64_t offset,
                                  std::span<std::byte> target) const override {
    STOKER_TRY(check_range(*this, offset, target.size()));
    if (!target.empty()) std::memcpy(target.data(), area_ + offset, target.size());
    return {};
  }
  [[nodiscard]] std::span<const std::byte> view() const noexcept override { return {area_, size_}; }
  [[nodiscard]] bool has_changed() const noexcept override {
    struct stat now {};
    const int failed = file_ ? ::fstat(file_->get(), &now) : ::stat(absolute_.c_str(), &now);
    // Where another file has taken its place, the map still holds the one that was opened.
    if (failed != 0 || now.st_dev != opened_.st_dev || now.st_ino != opened_.st_ino) return false;
    return now.st_size != opened_.st_size || now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec;
  }
  [[nodiscard]] std::string identity() const override {
    if (!tells_writes_) return {};
    std::string text;
    const auto add = [&](const timespec& time) {
      text += std::to_string(time.tv_sec) + '.' + std::to_string(time.tv_nsec) + ' ';
    };
    add(opened_.st_mtim);
    add(opened_.st_ctim);  // which no program can set back
    return text + std::to_string(opened_.st_dev) + ' ' + std::to_string(opened_.st_ino) + ' ' +
           std::to_string(opened_.st_size);
  }
  void forget(std::uint64_t offset, std::uint64_t bytes) const noexcept override {
    // Whole pages only: the neighbours may still be read. The page cache keeps what it likes.
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t begin = (offset + page - 1) / page * page;
    const std::uint64_t end = (offset + bytes) / page * page;
    if (begin < end) ::madvise(area_ + begin, end - begin, MADV_DONTNEED);
  }
  [[nodiscard]] std::string name() const override { return path_.string(); }

 private:
  const std::filesystem::path path_;
  const std::filesystem::path absolute_;
  const std::unique_ptr<Descriptor> file_;  // null: `absolute_` leads to it
  const std::size_t size_;
  const struct stat opened_;
  const bool tells_writes_;
  std::byte* const area_;
};

/// Precondition: a regular file with at least one byte. `keep`: `path` does not lead to it.
Result<std::shared_ptr<const ByteSource>> map_file(const std::filesystem::path& path,
                                                   std::unique_ptr<Descriptor> file, bool keep,
                                                   const FileState& state, std::string_view op) {
  std::error_code no_folder;  // then changes are not seen
  std::filesystem::path absolute = std::filesystem::absolute(path, no_folder);
  void* const area = ::mmap(nullptr, static_cast<std::size_t>(state.about.st_size), PROT_READ,
                            MAP_PRIVATE, file->get(), 0);
  if (area == MAP_FAILED) return file_error(op, path, errno);
  if (!keep) file.reset();
  return std::shared_ptr<const ByteSource>{
      std::make_shared<MappedFile>(path, std::move(absolute), std::move(file), state, area)};
}

Result<std::vector<std::byte>> read_to_end(int descriptor, std::uint64_t most,
                                           const std::filesystem::path& name, std::string_view op) {
  constexpr std::size_t piece = std::size_t{64} << 10U;
  std::vector<std::byte> bytes;
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(before + piece);
    const ssize_t got = ::read(descriptor, bytes.data() + before, piece);
    if (got < 0 && errno != EINTR) return file_error(op, name, errno);
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return bytes;
    if (bytes.size() > most)
      return Error{std::string{op},
                   ErrorCode::limit_exceeded,
                   "more than " + std::to_string(most) + " bytes",
                   {{"file", name.string()}}};
  }
}

}  // namespace

Pull ByteSource::from(std::uint64_t offset) const {
  return [this, offset](std::span<std::byte> target) mutable -> Result<void> {
    STOKER_TRY(read(offset, target));
    offset += target.size();
    return {};
  };
}

Result<std::shared_ptr<const ByteSource>> open_source(const std::filesystem::path& path,
                                                      bool mapped, std::string_view op) {
  // A pipe without a writer would block open() for ever. A regular file has to wait only where a file
  // server has lent it out.
  auto file = std::make_unique<Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file->get() < 0 && errno == EWOULDBLOCK && std::filesystem::is_regular_file(path))
    file = std::make_unique<Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file->get() < 0) return file_error(op, path, errno);
  FileState state;
  if (!state.read(file->get())) return file_error(op, path, errno);
  if (!S_ISREG(state.about.st_mode)) return damaged(op, path.string(), "not a regular file");
  if (mapped && state.about.st_size > 0) return map_file(path, std::move(file), false, state, op);
  return std::shared_ptr<const ByteSource>{std::make_shared<PlainFile>(
      path, std::move(file), static_cast<std::uint64_t>(state.about.st_size))};
}

Result<std::shared_ptr<const ByteSource>> open_source(int descriptor, std::uint64_t most,
                                                      std::string_view op) {
  const std::filesystem::path name{"descriptor " + std::to_string(descriptor)};
  auto file = std::make_unique<Descriptor>(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  FileState state;
  if (file->get() < 0 || !state.read(file->get())) return file_error(op, name, errno);
  if (S_ISREG(state.about.st_mode) && state.about.st_size > 0)
    return map_file(name, std::move(file), true, state, op);
  STOKER_ASSIGN(std::vector<std::byte> bytes, read_to_end(file->get(), most, name, op));
  return std::shared_ptr<const ByteSource>{std::make_shared<MemorySource>(std::move(bytes))};
}

std::shared_ptr<const ByteSource> memory_source(std::span<const std::byte> bytes) {
  return std::make_shared<MemorySource>(bytes);
}

Error damaged(std::string_view op, std::string_view name, std::string reason) {
  return Error{
      std::string{op}, ErrorCode::io_error, std::move(reason), {{"file", std::string{name}}}};
}

Error file_error(std::string_view op, const std::filesystem::path& path, int error) {
  return Error{std::string{op},
               error == ENOENT ? ErrorCode::not_found : ErrorCode::io_error,
               std::generic_category().message(error),
               {{"file", path.string()}}};
}

}  // namespace stoker::files
