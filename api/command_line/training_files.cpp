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

std::string words(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// Of models with different tensors: refuses what the script says in another way than the file. A
/// learning rate alone may change.
void check_options(const std::filesystem::path& path, const nn::Model& known,
                   const nn::Model& wanted) {
  const auto same = [&](const std::string& what, const std::string& file, const std::string& its) {
    if (file != its)
      refuse(path, "its " + what + " differs: the file has " + file + ", the script " + its);
  };
  const nn::ModelInfo before = known.info();
  const nn::ModelInfo now = wanted.info();
  same("precision", before.precision, now.precision);
  same("loss_scale", before.loss_scale, now.loss_scale);
  same("accumulate_gradients", std::to_string(known.options().accumulate_gradients),
       std::to_string(wanted.options().accumulate_gradients));
  same("set of frozen layers", words(known.frozen()), words(wanted.frozen()));
  same("optimizer", before.optimizer, now.optimizer);
}

/// The model in the file, made with the script's schedule if it has one.
nn::Model load(const std::filesystem::path& path, const nn::Model& wanted) {
  const nn::Schedule& schedule = wanted.options().schedule;
  try {
    return nn::Model::load(path, wanted.device(), schedule);
  } catch (const Error& error) {
    if (error.detail("parameter") != "schedule") throw;
    refuse(path, schedule
                     ? "it was made without a schedule: leave it out of the script's nn.model"
                     : "it was made with a schedule: the script's nn.model needs the same one, "
                       "{schedule = \"…\"}");
  }
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
  const nn::Model known = load(path, plan.model);
  if (known.network().to_json() != plan.model.network().to_json())
    refuse(path, "it holds another network than the script describes");
  nn::TrainingState state = known.state();
  const nn::TrainingState wanted = plan.model.state();
  if (!same_tensors(state.trained, wanted.trained) || !same_tensors(state.kept, wanted.kept) ||
      !same_tensors(state.slots, wanted.slots)) {
    check_options(path, known, plan.model);
    refuse(path, "it holds other tensors than the script's model has");
  }
  plan.model.restore(std::move(state));
  return epoch;
}

}  // namespace stoker::command_line
