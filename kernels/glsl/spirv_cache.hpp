// SPIR-V on disk, one file for each text that was compiled.
//
// Threads and processes may share a folder: files are written under a temporary name and renamed.
// A missing, torn or foreign file reads as absent; a file that cannot be written is left out.
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
  /// An empty folder name: nothing is ever found or stored.
  explicit SpirvCache(std::filesystem::path folder) : folder_{std::move(folder)} {}

  /// 128 bits over a text and the toolchain's version (FNV-1a over two bases).
  struct Key {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
  };
  [[nodiscard]] static Key key(std::string_view preamble, std::string_view body,
                               std::string_view toolchain) noexcept;

  [[nodiscard]] std::optional<std::vector<std::uint32_t>> load(const Key& key) const;
  void store(const Key& key, std::span<const std::uint32_t> words) const;

 private:
  [[nodiscard]] std::filesystem::path path(const Key& key) const;
  std::filesystem::path folder_;
};

}  // namespace stoker::glsl
