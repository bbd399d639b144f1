// safetensors files, and structures of tensors, which are such files.
#include "fuzz.hpp"
#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/api/tensor/io/serialize.hpp"

namespace stoker::fuzz::safetensors {
namespace {

using Structure = std::pair<std::map<std::string, Tensor>, std::vector<Tensor>>;

void read_structure(Bytes bytes) {
  const auto read = accepted([&] { return deserialize<Structure>(bytes); });
  if (!read) return;
  const auto again = deserialize<Structure>(serialize(*read));
  require(again.first.size() == read->first.size() && again.second.size() == read->second.size(),
          "a structure has as many parts when it is written and read again");
}

}  // namespace

void run(Bytes bytes) {
  const DeviceScope scope{device()};
  read_structure(bytes);
  const auto file = accepted([&] { return open_safetensors(bytes); });
  if (!file) return;
  const auto tensors = accepted([&] { return file->load_all(); });
  if (!tensors) return;
  const std::vector<std::byte> written = safetensors_to_bytes(*tensors, file->metadata());
  const SafetensorsFile again = open_safetensors(written);
  require(again.names() == file->names(), "a written file holds the same names");
  require(again.metadata() == file->metadata(), "a written file holds the same metadata");
  for (const auto& [name, tensor] : *tensors) {
    const Tensor other = again.load(name);
    require(other.spec() == tensor.spec() && equal(other.to_bytes(), tensor.to_bytes()),
            "a written tensor is read again as it was");
  }
}

}  // namespace stoker::fuzz::safetensors
