// .npz archives, from memory and from a file.
#include "fuzz.hpp"
#include "stoker/api/tensor/io/npy.hpp"

namespace stoker::fuzz::npz {

void run(Bytes bytes) {
  const DeviceScope scope{device()};
  const auto read = accepted([&] { return npz_from_bytes(bytes); });
  const MemoryFile file{bytes};
  const auto from_file = accepted([&] { return load_npz(file.path()); });
  require(read.has_value() == from_file.has_value(),
          "an archive is read from memory as from a file");
  if (!read) return;
  require(read->size() == from_file->size(),
          "an archive has as many arrays in memory as in a file");
  for (const auto& [name, tensor] : *read) {
    const auto other = from_file->find(name);
    require(other != from_file->end() && other->second.spec() == tensor.spec() &&
                equal(other->second.to_bytes(), tensor.to_bytes()),
            "an array of an archive is the same from memory and from a file");
  }
}

}  // namespace stoker::fuzz::npz
