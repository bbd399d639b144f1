#include "stoker/api/serve/repository/repository_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::serve {
namespace {

namespace fs = std::filesystem;

constexpr int deepest_folder = 8;  // of files within a version, such as weights beside a model

[[noreturn]] void cannot_read(const fs::path& path, const std::error_code& failure) {
  throw Error{"repository",
              ErrorCode::io_error,
              "a directory cannot be read: " + failure.message(),
              {{"directory", path.string()}}};
}

std::optional<std::uint64_t> version_of(const std::string& name) {
  std::uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, failure] = std::from_chars(name.data(), end, number);
  if (failure != std::errc{} || stop != end || number == 0 || std::to_string(number) != name)
    return {};
  return number;
}

/// Files may be replaced by others of the same size within the same tick of the clock: the inode tells.
std::string state_of(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return "gone";
  return std::to_string(found.st_ino) + ' ' + std::to_string(found.st_size) + ' ' +
         std::to_string(found.st_mtim.tv_sec) + '.' + std::to_string(found.st_mtim.tv_nsec);
}

std::vector<fs::directory_entry> entries_of(const fs::path& path) {
  std::error_code failure;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator next{path, failure}, end; !failure && next != end;
       next.increment(failure))
    entries.push_back(*next);
  if (failure) cannot_read(path, failure);
  std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path(); });
  return entries;
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code failure;
  return entry.is_directory(failure) && !failure;
}

/// A folder that goes while it is read is another state.
std::string state_of_all(const fs::path& path, int depth) {
  std::string state;
  try {
    for (const fs::directory_entry& entry : entries_of(path)) {
      state += entry.path().filename().string() + ' ' + state_of(entry.path()) + '\n';
      if (is_folder(entry) && depth < deepest_folder)
        state += state_of_all(entry.path(), depth + 1);
    }
  } catch (const Error&) {
    return "gone";
  }
  return state;
}

FolderOfModel folder_of(const fs::path& path) {
  FolderOfModel folder{.path = path};
  for (const fs::directory_entry& entry : entries_of(path)) {
    const std::string name = entry.path().filename().string();
    if (!is_folder(entry))
      folder.files += name + ' ' + state_of(entry.path()) + '\n';
    else if (const auto number = version_of(name))
      folder.versions.emplace(*number,
                              state_of(entry.path()) + '\n' + state_of_all(entry.path(), 0));
  }
  return folder;
}

bool is_model(const fs::directory_entry& entry) {
  return is_folder(entry) && !entry.path().filename().string().starts_with('.');
}

}  // namespace

std::map<std::string, FolderOfModel, std::less<>> RepositoryFolder::list() const {
  std::map<std::string, FolderOfModel, std::less<>> models;
  for (const fs::directory_entry& entry : entries_of(path_)) {
    if (!is_model(entry)) continue;
    try {
      models.emplace(entry.path().filename().string(), folder_of(entry.path()));
    } catch (const Error&) {
      // It went while it was read, or nobody may read it: it is not there.
    }
  }
  return models;
}

std::optional<FolderOfModel> RepositoryFolder::find(std::string_view name) const {
  for (const fs::directory_entry& entry : entries_of(path_))
    if (is_model(entry) && entry.path().filename().string() == name) return folder_of(entry.path());
  return {};
}

}  // namespace stoker::serve
