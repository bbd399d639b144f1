#include "stoker/device/vulkan/pipelines/cache_file.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

namespace stoker::device::vulkan {
namespace {

struct Header {
  std::array<char, 8> magic{'s', 't', 'o', 'k', 'e', 'r', 'v', 'k'};
  std::uint32_t format = cache_format;
  std::uint32_t reserved = 0;
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;
};

// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  return hash;
}

Error failed(const std::filesystem::path& file, std::string_view what) {
  return Error{"pipeline_cache", ErrorCode::io_error, std::string{what}, {{"path", file.string()}}};
}

}  // namespace

std::vector<std::byte> read_cache_file(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary | std::ios::ate};
  if (!in) return {};
  const std::streamoff end = in.tellg();
  Header header;
  const Header expected;
  if (end < static_cast<std::streamoff>(sizeof header)) return {};
  in.seekg(0);
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  const std::uint64_t rest = static_cast<std::uint64_t>(end) - sizeof header;
  if (!in || header.magic != expected.magic || header.format != expected.format ||
      header.size != rest)
    return {};
  std::vector<std::byte> bytes(rest);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in || checksum_of(bytes) != header.checksum) return {};
  return bytes;
}

Result<void> write_cache_file(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  if (failure) return failed(file, "cannot make the folder: " + failure.message());
  // Processes may save at once, and devices of one process: each writes a file of its own, the last
  // rename wins.
  static std::atomic<std::uint64_t> drafts{0};
  std::filesystem::path draft = file;
  draft += "." + std::to_string(getpid()) + "-" + std::to_string(drafts++) + ".tmp";
  {
    Header header;
    header.size = bytes.size();
    header.checksum = checksum_of(bytes);
    std::ofstream out{draft, std::ios::binary | std::ios::trunc};
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      std::filesystem::remove(draft, failure);
      return failed(file, "cannot write");
    }
  }
  std::filesystem::rename(draft, file, failure);
  if (!failure) return {};
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  return failed(file, "cannot rename: " + failure.message());
}

}  // namespace stoker::device::vulkan
