// The directory of a model repository:
//
//     NAME/VERSION/model.onnx, model.safetensors or model.lua, and what belongs to it
//     NAME/config.json or NAME/config.pbtxt, and files of labels
//
// A version is a directory whose name is a number above 0 in decimal. Other directories, and models whose names begin
// with a dot, are left alone.
//
// Threads: any; reads the disk. A name is compared with those that are there, and never becomes part of a path. Errors
// are thrown: io_error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stoker::serve {

struct FolderOfModel {
  std::filesystem::path path = {};
  /// What tells one state of the files beside the versions from another one: names, sizes, times.
  std::string files = {};
  /// The same of each version, by its number.
  std::map<std::uint64_t, std::string> versions = {};

  friend bool operator==(const FolderOfModel&, const FolderOfModel&) = default;
};

class RepositoryFolder {
 public:
  explicit RepositoryFolder(std::filesystem::path path) : path_{std::move(path)} {}

  [[nodiscard]] std::map<std::string, FolderOfModel, std::less<>> list() const;
  /// None: there is no such model.
  [[nodiscard]] std::optional<FolderOfModel> find(std::string_view name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace stoker::serve
