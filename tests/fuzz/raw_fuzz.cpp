// Files without a header: the first bytes are the spec and the offset that the program says.
#include "fuzz.hpp"
#include "stoker/api/tensor/core/raw_io.hpp"

namespace stoker::fuzz::raw {

void run(Bytes bytes) {
  const DeviceScope scope{device()};
  Decisions decide{bytes};
  const auto dtype = static_cast<DType>(decide.below(stored_dtype_count));
  std::vector<std::int64_t> extents(decide.below(4));
  for (std::int64_t& one : extents) one = decide.integer();
  std::optional<std::uint64_t> offset;
  if (decide.flag()) offset = static_cast<std::uint64_t>(decide.integer());
  const Bytes content = decide.rest();
  const MemoryFile file{content};
  const auto tensor = accepted([&] {
    return load_raw(file.path(), {dtype, Shape::make(extents)}, offset);
  });
  if (!tensor) return;
  require(offset.value_or(0) + tensor->bytes() <= content.size(),
          "a file holds what is read of it");
  if (dtype == DType::boolean) return;  // any byte but 0 becomes 1
  require(equal(tensor->to_bytes(), content.subspan(offset.value_or(0), tensor->bytes())),
          "bytes are read as they are");
}

}  // namespace stoker::fuzz::raw
