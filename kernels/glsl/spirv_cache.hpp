// A disk cache of SPIR-V, one file for each compiled text.
//
// Threads and processes may share a folder: files are written under a temporary name and renamed. A
// missing, truncated or foreign file counts as absent; a file that cannot be written is skipped.
// When the files exceed `limit` bytes, the least recently used are removed: a process checks this
// at its first file, and occasionally afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stoker::glsl {

class SpirvCache {
 public:
  static constexpr std::uintmax_t usual_limit = std::uintmax_t{256} << 20;

  /// An empty folder name: nothing is ever found or stored.
  explicit SpirvCache(std::filesystem::path folder, std::uintmax_t limit = usual_limit)
      : folder_{std::move(folder)}, limit_{limit} {}

  /// 128 bits over a text and the toolchain's version (FNV-1a over two bases).
  struct Key {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
  };
  [[nodiscard]] static Key key(std::string_view preamble, std::string_view body,
                               std::string_view toolchain) noexcept;

  [[nodiscard]] std::optional<std::vector<std::uint32_t>> load(const Key& key) const;
  void store(const Key& key, std::span<const std::uint32_t> words) const;
  /// Removes the oldest files until the rest takes three quarters of the limit, if all take more.
  void trim() const;

 private:
  [[nodiscard]] std::filesystem::path path(const Key& key) const;
  std::filesystem::path folder_;
  std::uintmax_t limit_;
};

}  // namespace stoker::glsl
