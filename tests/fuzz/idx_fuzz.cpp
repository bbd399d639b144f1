// IDX files, plain or packed by gzip.
#include "fuzz.hpp"
#include "stoker/api/data/idx.hpp"

namespace stoker::fuzz::idx {

void run(Bytes bytes) {
  const MemoryFile file{bytes};
  const auto array = accepted([&] { return nn::read_idx(file.path()); });
  if (!array) return;
  require(array->bytes.size() == array->spec.bytes(), "an array has the bytes of its shape");
  const auto data = accepted([&] { return nn::idx_dataset(file.path(), file.path()); });
  require(!data || data->size() == array->spec.shape[0], "a row is what lies along the first axis");
}

}  // namespace stoker::fuzz::idx
