#include "stoker/kernels/glsl/spirv_cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>

namespace stoker::glsl {
namespace {

constexpr std::uint32_t file_magic = 0x53'54'4b'31;  // "STK1": raise with any change of format
constexpr unsigned looked_at_every = 256;            // files that a process stores
constexpr std::uint64_t fnv_basis = 0xcbf29ce484222325;
constexpr std::uint64_t second_basis = 0x84222325cbf29ce4;

std::uint64_t fnv1a(std::uint64_t hash, std::string_view bytes) noexcept {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

std::uint64_t checksum(std::span<const std::uint32_t> words) noexcept {
  return fnv1a(fnv_basis, {reinterpret_cast<const char*>(words.data()), words.size_bytes()});
}

struct Header {
  std::uint32_t magic;
  std::uint32_t words;
  std::uint64_t key_high;
  std::uint64_t key_low;
  std::uint64_t checksum;
};

// A length before each part keeps ("ab", "c") and ("a", "bc") apart.
std::uint64_t hash_parts(std::uint64_t basis,
                         std::initializer_list<std::string_view> parts) noexcept {
  for (const std::string_view part : parts) {
    const std::uint64_t length = part.size();
    basis = fnv1a(basis, {reinterpret_cast<const char*>(&length), sizeof length});
    basis = fnv1a(basis, part);
  }
  return basis;
}

}  // namespace

SpirvCache::Key SpirvCache::key(std::string_view preamble, std::string_view body,
                                std::string_view toolchain) noexcept {
  return {hash_parts(fnv_basis, {preamble, body, toolchain}),
          hash_parts(second_basis, {preamble, body, toolchain})};
}

std::filesystem::path SpirvCache::path(const Key& key) const {
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx.spv", static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return folder_ / name;
}

std::optional<std::vector<std::uint32_t>> SpirvCache::load(const Key& key) const {
  if (folder_.empty()) return {};
  std::error_code failed;
  const std::filesystem::path file = path(key);
  const std::uintmax_t size = std::filesystem::file_size(file, failed);
  if (failed || size < sizeof(Header)) return {};
  std::ifstream in{file, std::ios::binary};
  Header header{};
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!in || header.magic != file_magic || header.key_high != key.high ||
      header.key_low != key.low ||
      size != sizeof header + std::uintmax_t{header.words} * sizeof(std::uint32_t))
    return {};
  std::vector<std::uint32_t> words(header.words);
  in.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  if (!in || checksum(words) != header.checksum) return {};
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now(), failed);
  return words;
}

void SpirvCache::store(const Key& key, std::span<const std::uint32_t> words) const {
  if (folder_.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  static std::atomic<unsigned> serial{0};
  const std::filesystem::path file = path(key);
  std::filesystem::path temporary = file;
  const unsigned number = serial++;
  temporary += "." + std::to_string(::getpid()) + "." + std::to_string(number);
  const Header header{file_magic, static_cast<std::uint32_t>(words.size()), key.high, key.low,
                      checksum(words)};
  std::ofstream out{temporary, std::ios::binary | std::ios::trunc};
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out.write(reinterpret_cast<const char*>(words.data()),
            static_cast<std::streamsize>(words.size_bytes()));
  out.close();
  if (out) std::filesystem::rename(temporary, file, failed);
  if (!out || failed) std::filesystem::remove(temporary, failed);
  if (number % looked_at_every == 0) trim();
}

void SpirvCache::trim() const {
  struct File {
    std::filesystem::file_time_type used;
    std::uintmax_t bytes = 0;
    std::filesystem::path path;
  };
  std::vector<File> files;
  std::uintmax_t bytes = 0;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry{folder_, failed}, end; !failed && entry != end;
       entry.increment(failed)) {
    // Drafts that a process left behind count as well; whatever else is there is not ours.
    if (entry->path().filename().string().find(".spv") == std::string::npos) continue;
    std::error_code gone;  // other processes remove files, too
    File file{entry->last_write_time(gone), entry->file_size(gone), entry->path()};
    if (gone) continue;
    bytes += file.bytes;
    files.push_back(std::move(file));
  }
  if (bytes <= limit_) return;
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (bytes <= limit_ / 4 * 3) return;
    if (std::filesystem::remove(file.path, failed)) bytes -= file.bytes;
  }
}

}  // namespace stoker::glsl
