#include "stoker/api/data/npy_rows.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "stoker/api/tensor/io/npy.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/pipeline/tensor/files/npy_format.hpp"

namespace stoker::nn {
namespace {

constexpr const char* op = "npy_dataset";

/// An array that stays in its file.
class NpyArray {
 public:
  explicit NpyArray(const std::filesystem::path& path)
      : file_{files::open_source(path, true, op).value()},
        header_{files::read_npy_header(file_->from(0), op, file_->name()).value()} {
    const Shape& shape = header_.spec.shape;
    if (shape.rank() == 0)
      throw Error{op, ErrorCode::shape_mismatch, "a scalar has no rows", {{"file", file_->name()}}};
    if (header_.fortran && shape.rank() > 1)
      throw Error{op,
                  ErrorCode::unsupported,
                  "rows of an array in Fortran order are scattered; save it in C order",
                  {{"file", file_->name()}}};
    row_ = {header_.spec.dtype, shape.without(0)};
    // Divided, because the product may be beyond 64 bits.
    if (file_->size() < header_.bytes ||
        (file_->size() - header_.bytes) / size_of(row_.dtype) < header_.spec.elements())
      throw files::damaged(op, file_->name(), "the file ends before its array does")
          .with("spec", header_.spec.to_string());
  }

  [[nodiscard]] std::int64_t rows() const noexcept { return header_.spec.shape[0]; }
  [[nodiscard]] const TensorSpec& row() const noexcept { return row_; }
  [[nodiscard]] std::string name() const { return file_->name(); }

  void read(std::span<const std::int64_t> indices, std::span<std::byte> into) const {
    for (std::size_t i = 0; i < indices.size(); ++i)
      file_
          ->read(header_.bytes + static_cast<std::uint64_t>(indices[i]) * row_.bytes(),
                 detail::row_of(into, row_, i))
          .value();
    const std::size_t element = size_of(component_of(row_.dtype));
    for (std::size_t i = 0; header_.swapped && i < into.size(); i += element)
      std::ranges::reverse(into.subspan(i, element));
    if (row_.dtype == DType::boolean)
      for (std::byte& one : into) one = std::byte{one != std::byte{}};
  }

 private:
  std::shared_ptr<const files::ByteSource> file_;
  files::NpyHeader header_;
  TensorSpec row_;
};

class NpyRows final : public RowSource {
 public:
  NpyRows(const std::vector<std::filesystem::path>& inputs,
          const std::vector<std::filesystem::path>& targets) {
    open(inputs, inputs_, specs_.inputs);
    open(targets, targets_, specs_.targets);
  }
  [[nodiscard]] std::int64_t size() const noexcept override { return inputs_[0].rows(); }
  [[nodiscard]] const RowSpecs& specs() const noexcept override { return specs_; }
  void rows(std::span<const std::int64_t> indices, const RowsInto& into) const override {
    for (std::size_t a = 0; a < inputs_.size(); ++a) inputs_[a].read(indices, into.inputs[a]);
    for (std::size_t a = 0; a < targets_.size(); ++a) targets_[a].read(indices, into.targets[a]);
  }

 private:
  void open(const std::vector<std::filesystem::path>& paths, std::vector<NpyArray>& arrays,
            std::vector<TensorSpec>& specs) {
    for (const auto& path : paths) {
      const NpyArray& array = arrays.emplace_back(path);
      if (array.rows() != size())
        throw Error{op,
                    ErrorCode::shape_mismatch,
                    "the file has " + std::to_string(array.rows()) + " rows, the first input has " +
                        std::to_string(size()),
                    {{"file", array.name()}}};
      specs.push_back(array.row());
    }
  }

  std::vector<NpyArray> inputs_;
  std::vector<NpyArray> targets_;
  RowSpecs specs_;
};

std::vector<Tensor> chosen(const std::map<std::string, Tensor>& arrays,
                           const std::vector<std::string>& names,
                           const std::filesystem::path& path) {
  std::vector<Tensor> found;
  for (const std::string& name : names) {
    const auto at = arrays.find(name);
    if (at == arrays.end())
      throw Error{"npz_dataset",
                  ErrorCode::not_found,
                  "there is no array \"" + name + "\" in the archive",
                  {{"name", name}, {"file", path.string()}}};
    found.push_back(at->second);
  }
  return found;
}

}  // namespace

Dataset npy_dataset(const std::vector<std::filesystem::path>& inputs,
                    const std::vector<std::filesystem::path>& targets, const RowOptions& options) {
  if (inputs.empty()) throw Error{op, ErrorCode::invalid_argument, "there are no inputs"};
  return with_row_options(Dataset{std::make_shared<NpyRows>(inputs, targets)}, options);
}

Dataset npz_dataset(const std::filesystem::path& path, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& targets, const RowOptions& options) {
  const std::map<std::string, Tensor> arrays = load_npz(path);
  return with_row_options({chosen(arrays, inputs, path), chosen(arrays, targets, path)}, options);
}

}  // namespace stoker::nn
