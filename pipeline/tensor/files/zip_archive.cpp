#include "stoker/pipeline/tensor/files/zip_archive.hpp"

#include <zip.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "stoker/pipeline/tensor/files/file_writer.hpp"

namespace stoker::files {
namespace {

/// Deflate's best is 1032 : 1; beyond, an entry lies about its size.
constexpr std::uint64_t best_ratio = 1032;

Error open_error(std::string_view op, std::string_view name, int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  return Error{std::string{op},
               code == ZIP_ER_NOENT ? ErrorCode::not_found : ErrorCode::io_error,
               reason,
               {{"file", std::string{name}}}};
}

struct CloseEntry {
  void operator()(zip_file_t* entry) const noexcept { zip_fclose(entry); }
};

/// What libzip calls back for one entry. C++ exceptions do not pass through it.
struct Feed {
  std::shared_ptr<ZipInput> input;
  std::shared_ptr<Error> failed;
  std::shared_ptr<bool> has_failed;
  std::time_t now = 0;
  zip_error_t error{};

  std::int64_t fail(const Error& why) noexcept {
    if (!*has_failed) *failed = why;
    *has_failed = true;
    zip_error_set(&error, ZIP_ER_READ, EIO);
    return -1;
  }
  std::int64_t read(std::span<std::byte> target) noexcept {
    try {
      const auto got = input->read(target);
      return got ? static_cast<std::int64_t>(*got) : fail(got.error());
    } catch (...) {
      return fail(error_from_current_exception("save_npz"));
    }
  }
  std::int64_t describe(void* data, zip_uint64_t length) noexcept {
    if (length < sizeof(zip_stat_t)) return -1;
    auto* const about = static_cast<zip_stat_t*>(data);
    zip_stat_init(about);
    about->size = input->size();
    about->mtime = now;
    about->valid = ZIP_STAT_SIZE | ZIP_STAT_MTIME;
    return sizeof(zip_stat_t);
  }

  static zip_int64_t call(void* self, void* data, zip_uint64_t length,
                          zip_source_cmd_t command) noexcept {
    Feed& feed = *static_cast<Feed*>(self);
    switch (command) {
      case ZIP_SOURCE_OPEN: feed.input->rewind(); return 0;
      case ZIP_SOURCE_READ: return feed.read({static_cast<std::byte*>(data), length});
      case ZIP_SOURCE_CLOSE: return 0;
      case ZIP_SOURCE_STAT: return feed.describe(data, length);
      case ZIP_SOURCE_ERROR: return zip_error_to_data(&feed.error, data, length);
      case ZIP_SOURCE_FREE: delete &feed; return 0;  // NOLINT: libzip owned it
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
      default: zip_error_set(&feed.error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
  }
};

}  // namespace

void ZipReader::Discard::operator()(zip* archive) const noexcept { zip_discard(archive); }
void ZipWriter::Discard::operator()(zip* archive) const noexcept { zip_discard(archive); }

ZipReader::ZipReader(zip* archive, std::string name, std::uint64_t bytes, std::string_view op)
    : archive_{archive},
      name_{std::move(name)},
      op_{op},
      bytes_{bytes},
      count_{static_cast<std::size_t>(zip_get_num_entries(archive, 0))} {}

Error ZipReader::failure(std::string_view what) const {
  return damaged(op_, name_, std::string{what} + ": " + zip_strerror(archive_.get()));
}

Result<ZipReader> ZipReader::open(const std::filesystem::path& path, std::string_view op) {
  int code = 0;
  zip* const archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (!archive) return open_error(op, path.string(), code);
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
  ZipReader reader{archive, path.string(), failure ? 0 : bytes, op};
  // libzip takes an empty file for an archive without entries, and empty memory for none.
  if (reader.bytes_ == 0) return damaged(op, reader.name_, "an empty file is no archive");
  return reader;
}

Result<ZipReader> ZipReader::open(std::span<const std::byte> bytes, std::string_view op) {
  if (bytes.empty()) return damaged(op, "bytes in memory", "an empty file is no archive");
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip* const archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  if (source && !archive) zip_source_free(source);
  const int code = zip_error_code_zip(&error);
  zip_error_fini(&error);
  if (!archive) return open_error(op, "bytes in memory", code);
  return ZipReader{archive, "bytes in memory", bytes.size(), op};
}

Result<ZipReader::Entry> ZipReader::entry(std::size_t index) const {
  zip_stat_t about;
  zip_stat_init(&about);
  if (zip_stat_index(archive_.get(), index, 0, &about) != 0 || !about.name ||
      !(about.valid & ZIP_STAT_SIZE))
    return failure("an entry is damaged");
  if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) && about.encryption_method != ZIP_EM_NONE)
    return Error{op_,
                 ErrorCode::unsupported,
                 "encrypted entries are not read",
                 {{"entry", about.name}, {"file", name_}}};
  // What it says of its packed size is a claim, too.
  if (!(about.valid & ZIP_STAT_COMP_SIZE) || about.comp_size > bytes_ ||
      about.size / best_ratio > about.comp_size)
    return damaged(op_, name_, "an entry claims more bytes than it can hold")
        .with("entry", about.name);
  return Entry{about.name, about.size};
}

Result<void> ZipReader::read(std::size_t index,
                             const std::function<Result<void>(const Pull&)>& read) const {
  const std::unique_ptr<zip_file_t, CloseEntry> file{zip_fopen_index(archive_.get(), index, 0)};
  if (!file) return failure("an entry cannot be opened");
  const auto wrong = [&](std::string_view what) {
    return damaged(op_, name_, std::string{what} + ": " + zip_file_strerror(file.get()));
  };
  STOKER_TRY(read([&](std::span<std::byte> target) -> Result<void> {
    while (!target.empty()) {
      const zip_int64_t got = zip_fread(file.get(), target.data(), target.size());
      if (got < 0) return wrong("an entry cannot be read");
      if (got == 0) return damaged(op_, name_, "an entry ends too early");
      target = target.subspan(static_cast<std::size_t>(got));
    }
    return {};
  }));
  std::byte beyond{};
  const zip_int64_t rest = zip_fread(file.get(), &beyond, 1);  // checks the sum at the end
  if (rest < 0) return wrong("an entry is damaged");
  if (rest > 0) return damaged(op_, name_, "an entry is longer than its array");
  return {};
}

ZipWriter::ZipWriter(zip* archive, std::filesystem::path path, std::string_view op)
    : archive_{archive}, path_{std::move(path)}, op_{op} {}

Result<ZipWriter> ZipWriter::create(const std::filesystem::path& path, std::string_view op) {
  int code = 0;
  zip* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive) return open_error(op, path.string(), code);
  return ZipWriter{archive, path, op};
}

Result<void> ZipWriter::add(const std::string& name, std::shared_ptr<ZipInput> input,
                            bool compress) {
  auto feed =
      std::make_unique<Feed>(Feed{std::move(input), failed_, has_failed_, std::time(nullptr), {}});
  zip_error_init(&feed->error);
  zip_source_t* const source = zip_source_function(archive_.get(), &Feed::call, feed.get());
  if (!source) return open_error(op_, path_.string(), ZIP_ER_MEMORY);
  static_cast<void>(feed.release());  // the source's now
  const auto failure = [&] {
    return damaged(op_, path_.string(), zip_strerror(archive_.get())).with("entry", name);
  };
  const zip_int64_t index = zip_file_add(archive_.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    const Error why = failure();
    zip_source_free(source);
    return why;
  }
  if (zip_set_file_compression(archive_.get(), static_cast<zip_uint64_t>(index),
                               compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0)
    return failure();
  return {};
}

Result<void> ZipWriter::close() {
  if (zip_get_num_entries(archive_.get(), 0) == 0) {
    // libzip writes no file for an archive without entries, which is the record of its end alone.
    zip_discard(archive_.release());
    STOKER_ASSIGN(const auto file, FileWriter::open(path_, op_));
    STOKER_TRY(file->write(std::string_view{"PK\5\6"}));
    STOKER_TRY(file->write(std::string(18, '\0')));
    return file->commit();
  }
  if (zip_close(archive_.get()) == 0) {
    static_cast<void>(archive_.release());
    return {};
  }
  if (*has_failed_) return *failed_;
  return damaged(op_, path_.string(), zip_strerror(archive_.get()));
}

}  // namespace stoker::files
