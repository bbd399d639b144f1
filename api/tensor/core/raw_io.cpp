#include "stoker/api/tensor/core/raw_io.hpp"

#include <algorithm>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/pipeline/tensor/files/file_writer.hpp"
#include "stoker/pipeline/tensor/files/transfer.hpp"

namespace stoker {

Tensor load_raw(const std::filesystem::path& path, const TensorSpec& spec,
                std::optional<std::uint64_t> offset) {
  const auto source = files::open_source(path, false, "load_raw").value();
  const std::uint64_t begin = offset.value_or(0);
  const std::uint64_t there = begin <= source->size() ? source->size() - begin : 0;
  const std::uint64_t size = size_of(spec.dtype);
  // Divided, because the product may be beyond 64 bits.
  const bool enough = there / size >= spec.elements() && begin <= source->size();
  if (!enough || (!offset && there != spec.bytes()))
    throw Error{"load_raw",
                ErrorCode::invalid_argument,
                "the file has another size than the spec",
                {{"spec", spec.to_string()},
                 {"got_bytes", std::to_string(there)},
                 {"file", path.string()}}};
  return Tensor{
      Buffer{files::upload(*current_device().client(), spec, source->from(begin)).value()}};
}

void save_raw(const std::filesystem::path& path, const Tensor& tensor) {
  tensor.eval();
  const auto file = files::FileWriter::open(path, "save_raw").value();
  files::download(tensor.buffer().handle(), [&](std::span<const std::byte> bytes) {
    return file->write(bytes);
  }).value();
  file->commit().value();
}

Tensor from_bytes(std::span<const std::byte> bytes, DType dtype) {
  if (bytes.size() % size_of(dtype) != 0)
    throw Error{
        "from_bytes",
        ErrorCode::invalid_argument,
        "the bytes are no whole number of elements",
        {{"bytes", std::to_string(bytes.size())}, {"dtype", std::string{to_string(dtype)}}}};
  const auto elements = static_cast<std::int64_t>(bytes.size() / size_of(dtype));
  return tensor(bytes, TensorSpec{dtype, Shape{elements}});
}

std::vector<std::byte> to_bytes(const Tensor& tensor, std::size_t limit) {
  const std::size_t elements = std::min(limit, tensor.size());
  return tensor.buffer().read_bytes(0, elements * size_of(tensor.dtype())).get();
}

}  // namespace stoker
