#include "training_files.hpp"

#include <charconv>

namespace stoker::command_line {
namespace {

constexpr const char* epoch_key = "epoch";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error{"train",
              ErrorCode::invalid_argument,
              path.string() + " cannot be gone on with: " + why,
              {{"file", path.string()}}};
}

/// Removes a file at the end, if it is there.
class Remover {
 public:
  explicit Remover(std::filesystem::path path) : path_{std::move(path)} {}
  ~Remover() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Remover(const Remover&) = delete;
  Remover& operator=(const Remover&) = delete;

 private:
  const std::filesystem::path path_;
};

template <class Map> bool same_tensors(const Map& a, const Map& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.spec() == other.second.spec();
  });
}

}  // namespace

void save_trained(const nn::Model& model, std::int64_t epoch, const std::filesystem::path& path) {
  // What a model writes has no place for the epoch, so the file is written once more with it.
  const std::filesystem::path first{path.string() + ".unfinished"};
  const Remover remover{first};
  model.save(first);
  const DeviceScope scope{model.device()};
  const SafetensorsFile file = open_safetensors(first);
  TensorMetadata metadata = file.metadata();
  metadata[epoch_key] = std::to_string(epoch);
  save_safetensors(path, file.load_all(), metadata);
}

std::int64_t resume(nn::TrainingPlan& plan, const std::filesystem::path& path) {
  std::int64_t epoch = 0;
  {
    const TensorMetadata metadata = open_safetensors(path).metadata();
    const auto found = metadata.find(epoch_key);
    const std::string text = found == metadata.end() ? "" : found->second;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), epoch);
    if (failure != std::errc{} || end != text.data() + text.size() || epoch < 1)
      refuse(path, "it does not say how many epochs it was trained; stoker train writes that");
  }
  const nn::Model known = nn::Model::load(path, plan.model.device(), plan.model.options().schedule);
  if (known.network().to_json() != plan.model.network().to_json())
    refuse(path, "it holds another network than the script describes");
  nn::TrainingState state = known.state();
  const nn::TrainingState wanted = plan.model.state();
  if (!same_tensors(state.trained, wanted.trained) || !same_tensors(state.kept, wanted.kept) ||
      !same_tensors(state.slots, wanted.slots))
    refuse(path, "the script has another optimizer or freezes other layers");
  plan.model.restore(std::move(state));
  return epoch;
}

}  // namespace stoker::command_line
