#include "stoker/api/data/packed_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "stoker/pipeline/tensor/files/byte_source.hpp"

namespace stoker::nn {

void PackedFile::Close::operator()(gzFile_s* file) const noexcept { ::gzclose(file); }

PackedFile::PackedFile(const std::filesystem::path& path, std::string op)
    : op_{std::move(op)}, name_{path.string()}, file_{::gzopen(path.c_str(), "rbe")} {
  if (!file_) throw files::file_error(op_, path, errno == 0 ? ENOMEM : errno);
}

std::size_t PackedFile::read(std::span<std::byte> target) {
  std::size_t total = 0;
  while (total < target.size()) {
    constexpr std::size_t most = std::numeric_limits<int>::max();
    const std::size_t wanted = std::min(target.size() - total, most);
    const int got = ::gzread(file_.get(), target.data() + total, static_cast<unsigned>(wanted));
    int state = Z_OK;
    const char* const text = ::gzerror(file_.get(), &state);
    // At a torn end zlib gives what there was and notes it.
    if (got < 0 || (state != Z_OK && state != Z_STREAM_END))
      throw files::damaged(op_, name_, state == Z_BUF_ERROR ? "the file is torn" : text);
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
  }
  return total;
}

}  // namespace stoker::nn
