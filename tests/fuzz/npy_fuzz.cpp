// .npy files: what is read is written and read again with the same elements.
#include "fuzz.hpp"
#include "stoker/api/data/loader.hpp"
#include "stoker/api/data/npy_rows.hpp"
#include "stoker/api/tensor/io/npy.hpp"

namespace stoker::fuzz::npy {
namespace {

/// The same file row by row, which has a reader of its own: it may refuse more, and agrees.
void compare_rows(Bytes bytes, const Tensor& whole) {
  const MemoryFile file{bytes};
  const auto rows = accepted([&] { return nn::npy_dataset({file.path()}, {}); });
  if (!rows || rows->size() == 0) return;
  require(rows->size() == whole.shape()[0], "both readers find as many rows");
  const nn::Batch all = nn::whole_batch(*rows);
  require(all.inputs[0].spec() == whole.spec(), "both readers find the same shape");
  require(equal(all.inputs[0].to_bytes(), whole.to_bytes()), "both readers find the same elements");
}

}  // namespace

void run(Bytes bytes) {
  const DeviceScope scope{device()};
  const auto read = accepted([&] { return npy_from_bytes(bytes); });
  if (!read) return;
  const std::vector<std::byte> written = npy_to_bytes(*read);
  const Tensor again = npy_from_bytes(written);
  require(again.spec() == read->spec(), "a written array has the shape and dtype that it had");
  require(equal(again.to_bytes(), read->to_bytes()),
          "a written array has the elements that it had");
  compare_rows(bytes, *read);
}

}  // namespace stoker::fuzz::npy
