// A folder that goes when this does.
//
// Threads: one. The constructor throws std::system_error.
#pragma once

#include <filesystem>

#include "stoker/bench/harness/peer_program.hpp"

namespace stoker::bench {

class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_ = temporary_folder();
};

}  // namespace stoker::bench
