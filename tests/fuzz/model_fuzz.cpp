// Models from files and from text. The first byte says what the rest is: the parts of a model file's
// metadata, a model file as a whole, parameters as JSON, or parameters as a safetensors file.
#include <unistd.h>

#include <fstream>

#include "fuzz.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/api/train/loop/training_file.hpp"
#include "stoker/api/train/model/model.hpp"

namespace stoker::fuzz::model {
namespace {

nn::Model small_model() {
  const nn::Node x = nn::input("x", {2}, DType::f32);
  nn::ModelOptions options;
  options.optimizer = "sgd";
  options.loss = "mean_squared_error";
  options.device = device();
  return nn::Model{nn::Network{nn::Layer{nn::layers::Dense{.units = 2}}(x)}, options};
}

/// The small model's file, taken apart.
struct Saved {
  TensorMap tensors;
  TensorMetadata metadata;
};

const Saved& saved() {
  static const Saved one = [] {
    const auto path =
        std::filesystem::temp_directory_path() / ("stoker-fuzz-" + std::to_string(::getpid()));
    nn::save_training(small_model(), 3, {}, path);
    const SafetensorsFile file = open_safetensors(path, {.mapped = false});
    Saved made{file.load_all(), file.metadata()};
    std::filesystem::remove(path);
    return made;
  }();
  return one;
}

void load(Bytes bytes) {
  const MemoryFile file{bytes};
  static_cast<void>(accepted([&] { return nn::recall_training(file.path(), {}); }));
  const auto model = accepted([&] { return nn::Model::load(file.path(), device()); });
  if (!model) return;
  static_cast<void>(model->summary());
  static_cast<void>(accepted([&] { return model->serialize_params(); }));
}

/// Other texts beside the small model's own tensors.
void load_with_metadata(Decisions& decide) {
  TensorMetadata metadata = saved().metadata;
  for (auto& [name, text] : metadata)
    if (const std::string_view other = decide.text(); !other.empty()) text = other;
  const auto bytes = accepted([&] { return safetensors_to_bytes(saved().tensors, metadata); });
  if (bytes) load(*bytes);
}

void read_parameters(Bytes bytes, bool json) {
  static nn::Model one = small_model();
  const std::vector<std::byte> before = one.serialize_params();
  const MemoryFile file{bytes};
  const bool read =
      accepted([&] { json ? one.import_params(file.path()) : one.deserialize_params(bytes); });
  const std::vector<std::byte> after = one.serialize_params();
  require(read || equal(before, after), "a model that refuses parameters is as it was");
  nn::Model other = small_model();
  other.deserialize_params(after);
  require(equal(other.serialize_params(), after), "parameters are read as they were written");
}

}  // namespace

void run(Bytes bytes) {
  const DeviceScope scope{device()};
  Decisions decide{bytes};
  switch (decide.byte() % 4) {
    case 0: return load_with_metadata(decide);
    case 1: return load(decide.rest());
    case 2: return read_parameters(decide.rest(), true);
    default: return read_parameters(decide.rest(), false);
  }
}

}  // namespace stoker::fuzz::model
