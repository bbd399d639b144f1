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
  /// Relative paths begin at `directory`; what is read is looked for in `script_directory`, too, unless that is
  /// empty. Errors: not_found, naming a directory that is not there.
  [[nodiscard]] static Result<AllowedPaths> make(const std::vector<std::filesystem::path>& allowed,
                                                 const std::filesystem::path& directory,
                                                 const std::filesystem::path& script_directory);

  /// The real path of `path`, which need not exist: where a file is written. Errors: permission_denied outside of
  /// the allowed directories, whether or not something is there; invalid_argument for no path at all, or one that
  /// is too long for the system.
  [[nodiscard]] Result<std::filesystem::path> resolve(std::string_view op,
                                                      std::string_view path) const;
  /// The real path of `path` where it is read: that in `directory`, unless only `script_directory` has an allowed
  /// file of this path. Errors: as resolve().
  [[nodiscard]] Result<std::filesystem::path> find(std::string_view op,
                                                   std::string_view path) const;

 private:
  [[nodiscard]] Result<std::filesystem::path> resolve_from(const std::filesystem::path& directory,
                                                           std::string_view op,
                                                           std::string_view path) const;

  std::vector<std::filesystem::path> allowed_;
  std::filesystem::path directory_;
  std::filesystem::path script_directory_;  ///< absolute, or empty
};

}  // namespace stoker::script
