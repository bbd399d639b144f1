#include "stoker/kernels/glsl/spirv_cache.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>

namespace stoker::glsl {
namespace {

constexpr std::uint32_t file_magic = 0x53'54'4b'31;  // "STK1": raise with any change of format
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
  return words;
}

void SpirvCache::store(const Key& key, std::span<const std::uint32_t> words) const {
  if (folder_.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  static std::atomic<unsigned> serial{0};
  const std::filesystem::path file = path(key);
  std::filesystem::path temporary = file;
  temporary += "." + std::to_string(::getpid()) + "." + std::to_string(serial++);
  const Header header{file_magic, static_cast<std::uint32_t>(words.size()), key.high, key.low,
                      checksum(words)};
  std::ofstream out{temporary, std::ios::binary | std::ios::trunc};
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out.write(reinterpret_cast<const char*>(words.data()),
            static_cast<std::streamsize>(words.size_bytes()));
  out.close();
  if (out) std::filesystem::rename(temporary, file, failed);
  if (!out || failed) std::filesystem::remove(temporary, failed);
}

}  // namespace stoker::glsl
