#include "stoker/api/data/image_folder.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "stoker/pipeline/image/image_io.hpp"

namespace stoker::nn {
namespace {

constexpr const char* op = "image_folder";

Image decoded(const std::filesystem::path& path) {
  auto image = load_image(path);
  if (image.has_error()) {
    const Error error = std::move(image).error();
    throw error.detail("file").empty() ? error.with("file", path.string()) : error;
  }
  return std::move(*image);
}

class ImageRows final : public RowSource {
 public:
  ImageRows(std::vector<std::filesystem::path> paths, std::vector<std::int32_t> classes)
      : paths_{std::move(paths)},
        classes_{std::move(classes)},
        specs_{{decoded(paths_.front()).spec}, {{DType::s32, {}}}} {}
  [[nodiscard]] std::int64_t size() const noexcept override {
    return static_cast<std::int64_t>(paths_.size());
  }
  [[nodiscard]] const RowSpecs& specs() const noexcept override { return specs_; }
  void rows(std::span<const std::int64_t> indices, const RowsInto& into) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto row = static_cast<std::size_t>(indices[i]);
      const Image image = decoded(paths_[row]);
      const TensorSpec& expected = specs_.inputs[0];
      if (image.spec != expected)
        throw Error{op,
                    ErrorCode::shape_mismatch,
                    "expected pictures of " + expected.to_string() + ", as the first one, got " +
                        image.spec.to_string(),
                    {{"file", paths_[row].string()}, {"got", image.spec.to_string()}}};
      std::ranges::copy(image.bytes, detail::row_of(into.inputs[0], expected, i).begin());
      const auto target = detail::row_of(into.targets[0], specs_.targets[0], i);
      std::memcpy(target.data(), &classes_[row], target.size());
    }
  }

 private:
  const std::vector<std::filesystem::path> paths_;
  const std::vector<std::int32_t> classes_;
  const RowSpecs specs_;
};

/// What is in a folder and passes, in order: the file system has none.
template <class F>
std::vector<std::filesystem::path> listed(const std::filesystem::path& folder, F&& passes) {
  std::vector<std::filesystem::path> found;
  try {
    for (const auto& entry : std::filesystem::directory_iterator{folder})
      if (passes(entry)) found.push_back(entry.path());
  } catch (const std::filesystem::filesystem_error& error) {
    const bool missing = error.code() == std::errc::no_such_file_or_directory;
    throw Error{op,
                missing ? ErrorCode::not_found : ErrorCode::io_error,
                error.code().message(),
                {{"folder", folder.string()}}};
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

ImageFolder image_folder(const std::filesystem::path& root, const RowOptions& options) {
  std::vector<std::string> names;
  std::vector<std::filesystem::path> paths;
  std::vector<std::int32_t> classes;
  for (const auto& folder : listed(root, [](const auto& entry) { return entry.is_directory(); })) {
    for (auto& path : listed(folder, [](const auto& entry) {
           return entry.is_regular_file() && image_format(entry.path()).has_value();
         })) {
      paths.push_back(std::move(path));
      classes.push_back(static_cast<std::int32_t>(names.size()));
    }
    names.push_back(folder.filename().string());
  }
  if (paths.empty())
    throw Error{op,
                ErrorCode::invalid_argument,
                "there are no pictures in folders here",
                {{"folder", root.string()}}};
  std::vector<std::filesystem::path> files = paths;
  const Dataset data{std::make_shared<ImageRows>(std::move(paths), std::move(classes))};
  return {with_row_options(data, options), std::move(names), std::move(files)};
}

}  // namespace stoker::nn
