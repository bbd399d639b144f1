#include "stoker/api/data/idx.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "stoker/api/data/packed_file.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"

namespace stoker::nn {
namespace {

constexpr const char* op = "read_idx";

constexpr std::array<std::pair<unsigned, DType>, 6> types{{{0x08, DType::u8},
                                                           {0x09, DType::s8},
                                                           {0x0B, DType::s16},
                                                           {0x0C, DType::s32},
                                                           {0x0D, DType::f32},
                                                           {0x0E, DType::f64}}};

void fill(PackedFile& file, std::span<std::byte> target) {
  if (file.read(target) != target.size())
    throw files::damaged(op, file.name(), "the file is torn: it ends before its array does");
}

TensorSpec read_header(PackedFile& file) {
  std::array<std::byte, 4> magic{};
  fill(file, magic);
  const auto* const type = std::ranges::find(types, std::to_integer<unsigned>(magic[2]),
                                             &std::pair<unsigned, DType>::first);
  if (magic[0] != std::byte{} || magic[1] != std::byte{} || type == types.end())
    throw files::damaged(op, file.name(), "this is no IDX file: it does not begin with 0000TTDD");
  std::vector<std::int64_t> extents;
  const auto rank = std::to_integer<std::size_t>(magic[3]);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::array<std::byte, 4> extent{};
    fill(file, extent);
    std::int64_t value = 0;
    for (const std::byte one : extent) value = value * 256 + std::to_integer<int>(one);
    extents.push_back(value);
  }
  const Result<Shape> shape = Shape::try_make(extents, op);
  if (shape.has_error()) throw files::damaged(op, file.name(), std::string{shape.error().reason()});
  return {type->second, *shape};
}

}  // namespace

HostArray read_idx(const std::filesystem::path& path) {
  PackedFile file{path, op};
  HostArray array{read_header(file), {}};
  // In pieces: what a header claims is allocated only as far as the file really goes.
  constexpr std::size_t piece = std::size_t{16} << 20;
  for (std::size_t left = array.spec.bytes(); left > 0;) {
    const std::size_t count = std::min(left, piece);
    array.bytes.resize(array.bytes.size() + count);
    fill(file, std::span{array.bytes}.last(count));
    left -= count;
  }
  std::array<std::byte, 1> behind{};
  if (file.read(behind) != 0)
    throw files::damaged(op, file.name(), "there are bytes behind the array")
        .with("spec", array.spec.to_string());
  if constexpr (std::endian::native == std::endian::little) {
    const std::size_t element = size_of(array.spec.dtype);
    for (std::size_t i = 0; element > 1 && i < array.bytes.size(); i += element)
      std::ranges::reverse(std::span{array.bytes}.subspan(i, element));
  }
  return array;
}

Tensor load_idx(const std::filesystem::path& path) {
  const HostArray array = read_idx(path);
  return tensor(std::span{array.bytes}, array.spec);
}

Dataset idx_dataset(const std::filesystem::path& inputs, const std::filesystem::path& targets,
                    const RowOptions& options) {
  HostRows rows;
  rows.inputs.push_back(read_idx(inputs));
  rows.targets.push_back(read_idx(targets));
  return with_row_options(dataset_from_memory(std::move(rows)), options);
}

}  // namespace stoker::nn
