#include "stoker/api/tensor/io/npy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/pipeline/tensor/files/file_writer.hpp"
#include "stoker/pipeline/tensor/files/npy_format.hpp"
#include "stoker/pipeline/tensor/files/transfer.hpp"
#include "stoker/pipeline/tensor/files/zip_archive.hpp"

namespace stoker {
namespace {

constexpr std::string_view suffix = ".npy";

/// Turns each element round. Pieces hold whole elements.
files::Pull turned(const files::Pull& pull, std::size_t element) {
  return [&pull, element](std::span<std::byte> target) -> Result<void> {
    STOKER_TRY(pull(target));
    for (std::size_t i = 0; i < target.size(); i += element)
      std::ranges::reverse(target.subspan(i, element));
    return {};
  };
}

/// An array of a stream of `bytes` bytes.
Result<Tensor> read_array(const files::Pull& pull, std::uint64_t bytes, std::string_view op,
                          std::string_view file) {
  STOKER_ASSIGN(const files::NpyHeader header, files::read_npy_header(pull, op, file));
  TensorSpec stored = header.spec;
  // Divided, because the product may be beyond 64 bits.
  if (bytes < header.bytes || (bytes - header.bytes) / size_of(stored.dtype) < stored.elements())
    return files::damaged(op, file, "the file ends before its array does")
        .with("spec", stored.to_string());
  const bool reversed = header.fortran && stored.shape.rank() > 1;
  if (reversed) {
    std::vector<std::int64_t> extents(stored.shape.begin(), stored.shape.end());
    std::ranges::reverse(extents);
    STOKER_ASSIGN(stored.shape, Shape::try_make(extents, op));
  }
  STOKER_ASSIGN(
      DeviceBuffer buffer,
      files::upload(*current_device().client(), stored,
                    header.swapped ? turned(pull, size_of(component_of(stored.dtype))) : pull));
  const Tensor tensor{Buffer{std::move(buffer)}};
  return reversed ? transpose(tensor) : tensor;
}

Tensor load_from(const files::ByteSource& source, std::string_view op) {
  return read_array(source.from(0), source.size(), op, source.name()).value();
}

std::map<std::string, Tensor> load_archive(const files::ZipReader& archive, std::string_view op) {
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const auto entry = archive.entry(i).value();
    if (!entry.name.ends_with(suffix))
      throw Error{std::string{op},
                  ErrorCode::unsupported,
                  "an entry of the archive is no array",
                  {{"entry", entry.name}, {"file", archive.name()}}};
    const auto name = entry.name.substr(0, entry.name.size() - suffix.size());
    Tensor tensor;
    const auto read = [&](const files::Pull& pull) -> Result<void> {
      STOKER_ASSIGN(tensor, read_array(pull, entry.bytes, op, archive.name() + ":" + entry.name));
      return {};
    };
    archive.read(i, read).value();
    if (!tensors.emplace(name, std::move(tensor)).second)
      throw files::damaged(op, archive.name(), "a name occurs twice").with("name", name);
  }
  return tensors;
}

void write_array(const Tensor& tensor, const files::Push& push) {
  const std::string header = files::npy_header(tensor.spec());
  push(std::as_bytes(std::span{header})).value();
  files::download(tensor.buffer().handle(), push).value();
}

/// A tensor as a .npy file that libzip reads.
class NpyInput final : public files::ZipInput {
 public:
  explicit NpyInput(const Tensor& tensor)
      : buffer_{tensor.buffer().handle()}, header_{files::npy_header(tensor.spec())} {}

  [[nodiscard]] std::uint64_t size() const noexcept override {
    return header_.size() + buffer_.spec().bytes();
  }
  void rewind() override {
    rest_ = std::as_bytes(std::span{header_});
    pieces_.emplace(buffer_);
  }
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> target) override {
    if (rest_.empty()) {
      STOKER_ASSIGN(rest_, pieces_->next());
      if (rest_.empty()) pieces_.reset();  // its memory is wanted for the next entry
    }
    const std::size_t count = std::min(target.size(), rest_.size());
    if (count > 0) std::memcpy(target.data(), rest_.data(), count);
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  const DeviceBuffer buffer_;
  const std::string header_;
  std::optional<files::Download> pieces_;
  std::span<const std::byte> rest_;
};

}  // namespace

Tensor load_npy(const std::filesystem::path& path) {
  return load_from(*files::open_source(path, false, "load_npy").value(), "load_npy");
}

Tensor npy_from_bytes(std::span<const std::byte> bytes) {
  return load_from(*files::memory_source(bytes), "npy_from_bytes");
}

void save_npy(const std::filesystem::path& path, const Tensor& tensor) {
  tensor.eval();
  const auto file = files::FileWriter::open(path, "save_npy").value();
  write_array(tensor, [&](std::span<const std::byte> bytes) { return file->write(bytes); });
  file->commit().value();
}

std::vector<std::byte> npy_to_bytes(const Tensor& tensor) {
  std::vector<std::byte> all;
  write_array(tensor, [&](std::span<const std::byte> bytes) -> Result<void> {
    all.insert(all.end(), bytes.begin(), bytes.end());
    return {};
  });
  return all;
}

std::map<std::string, Tensor> load_npz(const std::filesystem::path& path) {
  return load_archive(files::ZipReader::open(path, "load_npz").value(), "load_npz");
}

std::map<std::string, Tensor> npz_from_bytes(std::span<const std::byte> bytes) {
  return load_archive(files::ZipReader::open(bytes, "npz_from_bytes").value(), "npz_from_bytes");
}

void save_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
              const NpzOptions& options) {
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : tensors) all.push_back(tensor);
  detail::eval_all(all, "save_npz");
  auto archive = files::ZipWriter::create(path, "save_npz").value();
  for (const auto& [name, tensor] : tensors)
    archive.add(name + std::string{suffix}, std::make_shared<NpyInput>(tensor), options.compressed)
        .value();
  archive.close().value();
}

}  // namespace stoker
