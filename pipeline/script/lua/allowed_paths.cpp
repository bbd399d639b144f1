#include "stoker/pipeline/script/lua/allowed_paths.hpp"

#include <algorithm>
#include <climits>
#include <string>
#include <system_error>

namespace stoker::script {
namespace {

namespace fs = std::filesystem;

Error refuse(std::string_view op, ErrorCode code, std::string reason, std::string_view path) {
  return {std::string{op}, code, std::move(reason), {{"path", std::string{path}}}};
}

bool is_beneath(const fs::path& path, const fs::path& directory) {
  return std::ranges::mismatch(directory, path).in1 == directory.end();
}

}  // namespace

Result<AllowedPaths> AllowedPaths::make(const std::vector<fs::path>& allowed,
                                        const fs::path& directory,
                                        const fs::path& script_directory) {
  std::error_code failure;
  AllowedPaths paths;
  paths.directory_ =
      directory.empty() ? fs::current_path(failure) : fs::absolute(directory, failure);
  if (failure) return refuse("script", ErrorCode::not_found, "there is no current directory", "");
  for (const fs::path& entry : allowed) {
    const fs::path real = fs::canonical(paths.directory_ / entry, failure);
    if (failure || !fs::is_directory(real, failure))
      return refuse("script", ErrorCode::not_found, "an allowed directory is not there",
                    entry.string());
    paths.allowed_.push_back(real);
  }
  if (!script_directory.empty()) paths.script_directory_ = paths.directory_ / script_directory;
  return paths;
}

Result<fs::path> AllowedPaths::resolve(std::string_view op, std::string_view path) const {
  return resolve_from(directory_, op, path);
}

Result<fs::path> AllowedPaths::find(std::string_view op, std::string_view path) const {
  const auto is_there = [](const Result<fs::path>& found) {
    std::error_code failure;
    return found && fs::exists(*found, failure);
  };
  Result<fs::path> here = resolve_from(directory_, op, path);
  if (script_directory_.empty() || is_there(here)) return here;
  Result<fs::path> beside_script = resolve_from(script_directory_, op, path);
  return is_there(beside_script) ? beside_script : here;
}

Result<fs::path> AllowedPaths::resolve_from(const fs::path& directory, std::string_view op,
                                            std::string_view path) const {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return refuse(op, ErrorCode::invalid_argument, "this is not the name of a file", "");
  // The system knows no longer ones, and to resolve them takes time and memory without bound.
  if (path.size() >= PATH_MAX)
    return refuse(op, ErrorCode::invalid_argument, "the name of a file is too long",
                  path.substr(0, 64));
  // The last component is kept as it is where nothing exists yet, so a name is needed there.
  std::error_code failure;
  const fs::path wanted = directory / fs::path{path};
  const fs::path real = fs::weakly_canonical(wanted, failure);
  const bool inside = !failure && std::ranges::any_of(allowed_, [&](const fs::path& allowed) {
    return real != allowed && is_beneath(real, allowed);
  });
  // A link that leads nowhere is not resolved by weakly_canonical; writing would follow it.
  if (inside && fs::is_symlink(fs::symlink_status(real, failure)))
    return refuse(op, ErrorCode::permission_denied, "the path is a link that leads nowhere", path);
  if (!inside)
    return refuse(op, ErrorCode::permission_denied,
                  "the script may not use this path; allow its directory to it", path);
  return real;
}

}  // namespace stoker::script
