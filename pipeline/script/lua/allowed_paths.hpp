// Which files a script may touch: those beneath its allowed directories, after every symbolic link
// and ".." has been resolved.
//
// The path that is returned has no links left in its directories, and is what must be opened.
// Threads: immutable; any.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::script {

class AllowedPaths {
 public:
  /// Relative paths begin at `directory`. Errors: not_found, naming a directory that is not there.
  [[nodiscard]] static Result<AllowedPaths> make(const std::vector<std::filesystem::path>& allowed,
                                                 const std::filesystem::path& directory);

  /// The real path of `path`, which need not exist. Errors: permission_denied outside of the
  /// allowed directories, whether or not something is there; invalid_argument for no path at all, or one that
  /// is too long for the system.
  [[nodiscard]] Result<std::filesystem::path> resolve(std::string_view op,
                                                      std::string_view path) const;

 private:
  std::vector<std::filesystem::path> allowed_;
  std::filesystem::path directory_;
};

}  // namespace stoker::script
