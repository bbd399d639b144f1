#include "stoker/pipeline/onnx/reading/external_data.hpp"

#include <algorithm>
#include <system_error>

#include "stoker/pipeline/onnx/graph/file_bytes.hpp"
#include "stoker/pipeline/onnx/reading/findings.hpp"

namespace stoker::onnx {
namespace {

namespace fs = std::filesystem;

Error refused(ErrorCode code, std::string why) { return Error{"onnx", code, std::move(why)}; }

bool is_below(const fs::path& file, const fs::path& folder) {
  // "a/" ends with an empty part.
  return std::ranges::mismatch(folder, file).in1 == folder.end();
}

}  // namespace

std::vector<fs::path> folders_of(const fs::path& path) {
  std::error_code error;
  const auto folder_of = [](const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path{"."};
  };
  std::vector folders{folder_of(path)};
  const fs::path target = fs::canonical(path, error);
  if (!error) folders.push_back(target.parent_path());
  return folders;
}

Result<std::shared_ptr<const files::ByteSource>> ExternalData::file(const std::string& location) {
  if (const auto found = open_.find(location); found != open_.end()) return found->second;
  if (folders_.empty())
    return refused(ErrorCode::not_found, "external data " + in_quotes(location) +
                                             ": a model in memory has no folder unless it is said");
  const fs::path path{location};
  if (location.empty() || location.find('\0') != std::string::npos || path.is_absolute() ||
      std::ranges::find(path, fs::path{".."}) != path.end())
    return refused(ErrorCode::permission_denied, "external data " + in_quotes(location) +
                                                     ": not a path below the model's folder");
  std::error_code error;
  const fs::path target = fs::canonical(folders_.front() / path, error);
  if (error)
    return refused(ErrorCode::not_found,
                   "external data " + in_quotes(location) + ": " + error.message());
  const bool inside = std::ranges::any_of(folders_, [&](const fs::path& folder) {
    const fs::path whole = fs::canonical(folder, error);
    return !error && is_below(target, whole);
  });
  if (!inside)
    return refused(ErrorCode::permission_denied, "external data " + in_quotes(location) +
                                                     ": a link leads out of the model's folder");
  const auto same = files_.find(target);
  if (same != files_.end()) return open_.emplace(location, same->second).first->second;
  const auto opened = files::open_source(target, true, "onnx");
  if (!opened)
    return refused(opened.error().code(), "external data " + in_quotes(location) + ": " +
                                              std::string{opened.error().reason()});
  files_.emplace(target, *opened);
  return open_.emplace(location, *opened).first->second;
}

Result<SharedBytes> ExternalData::bytes(const std::string& location, std::uint64_t offset,
                                        std::uint64_t length) {
  STOKER_ASSIGN(const std::shared_ptr<const files::ByteSource> opened, file(location));
  const std::span<const std::byte> all = opened->view();
  if (offset > all.size() || length > all.size() - offset)
    return refused(ErrorCode::io_error, "external data " + in_quotes(location) + ": ends at byte " +
                                            std::to_string(all.size()) + ", " +
                                            std::to_string(length) + " bytes from " +
                                            std::to_string(offset) + " on are needed");
  return bytes_of_file(opened, all.subspan(offset, length));
}

std::vector<std::shared_ptr<const files::ByteSource>> ExternalData::files() const {
  std::vector<std::shared_ptr<const files::ByteSource>> all;
  for (const auto& [path, file] : files_) all.push_back(file);
  return all;
}

}  // namespace stoker::onnx
