// A model as one safetensors file: variables, slots and the key as tensors, the rest as metadata.
#include <nlohmann/json.hpp>

#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/train/model/model_data.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::nn {
namespace {

using nlohmann::json;

constexpr const char* format = "stoker.model/1";
constexpr const char* variable_prefix = "variables/";
constexpr const char* slot_prefix = "slots/";
constexpr const char* key_name = "key";

json options_json(const ModelOptions& options) {
  json text{{"loss", options.loss.text()},
            {"optimizer", options.optimizer.text()},
            {"accumulate_gradients", options.accumulate_gradients},
            {"weight_decay", options.weight_decay},
            {"seed", options.seed},
            {"losses", json::array()},
            {"loss_weights", options.loss_weights},
            {"precision", options.precision.text()},
            {"loss_scale", options.loss_scale.empty() ? "" : options.loss_scale.text()},
            {"checkpoints", options.checkpoints},
            {"schedule", static_cast<bool>(options.schedule)}};
  for (const LossName& one : options.losses) text["losses"].push_back(one.text());
  const auto put = [&](const char* name, const std::optional<double>& value) {
    if (value) text[name] = *value;
  };
  put("learning_rate", options.learning_rate);
  put("clip_norm", options.clip_norm);
  put("clip_value", options.clip_value);
  return text;
}

/// Integers are referred to instead of converted, because get<>() takes 1e300 for one.
ModelOptions options_of(const json& text) {
  ModelOptions options;
  options.loss = text.at("loss").get<std::string>();
  options.optimizer = text.at("optimizer").get<std::string>();
  options.accumulate_gradients = text.at("accumulate_gradients").get_ref<const std::int64_t&>();
  options.weight_decay = text.at("weight_decay").get<double>();
  options.seed = text.at("seed").get_ref<const std::uint64_t&>();
  for (const json& one : text.at("losses")) options.losses.emplace_back(one.get<std::string>());
  // What earlier files do not say was not there then.
  options.loss_weights = text.value("loss_weights", std::vector<double>{});
  options.precision = text.value("precision", std::string{"full"});
  if (const auto scale = text.value("loss_scale", std::string{}); !scale.empty())
    options.loss_scale = scale;
  if (text.contains("checkpoints"))
    options.checkpoints = text["checkpoints"].get_ref<const std::int64_t&>();
  const auto take = [&](const char* name, std::optional<double>& value) {
    if (text.contains(name)) value = text[name].get<double>();
  };
  take("learning_rate", options.learning_rate);
  take("clip_norm", options.clip_norm);
  take("clip_value", options.clip_value);
  return options;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error{"load",
              ErrorCode::invalid_argument,
              path.string() + " is no saved model: " + why,
              {{"file", path.string()}}};
}

/// A schedule is a function, so a file says only whether there was one. Without it the optimizer has
/// other slots.
void check_schedule(const std::filesystem::path& path, const json& options, bool given) {
  const bool wanted = options.value("schedule", given);
  if (wanted == given) return;
  throw Error{
      "load",
      ErrorCode::invalid_argument,
      path.string() +
          (wanted ? " holds a model that was made with a schedule, which is not in the file: "
                    "give it again, load(path, device, schedule)"
                  : " holds a model that was made without a schedule: load it without one"),
      {{"file", path.string()}, {"parameter", "schedule"}}};
}

const std::string& entry(const std::filesystem::path& path, const TensorMetadata& metadata,
                         const char* name) {
  const auto found = metadata.find(name);
  if (found == metadata.end()) refuse(path, std::string{"it does not say its "} + name);
  return found->second;
}

/// Exactly the tensors that are wanted, of their shapes: in the place of those in `wanted`.
template <class Map>
void take_all(const std::filesystem::path& path, const TensorMap& tensors, const char* prefix,
              Map& wanted) {
  for (auto& [name, tensor] : wanted) {
    const auto found = tensors.find(prefix + name);
    if (found == tensors.end()) refuse(path, "'" + name + "' is missing");
    if (found->second.spec() != tensor.spec())
      refuse(path, "'" + name + "' is " + found->second.spec().to_string() + ", expected " +
                       tensor.spec().to_string());
    tensor = found->second;
  }
}

}  // namespace

void Model::save(const std::filesystem::path& path,
                 const std::map<std::string, std::string>& more) const {
  TrainingState now;
  std::set<std::string> frozen;
  {
    const auto locked = data_->lock();
    now = data_->state;
    frozen = data_->step.frozen();
  }
  TensorMap tensors{{key_name, now.key}};
  for (const auto& [name, tensor] : now.variables())
    tensors.emplace(variable_prefix + name, tensor);
  for (const auto& [name, tensor] : now.slots) tensors.emplace(slot_prefix + name, tensor);
  TensorMetadata metadata{{"format", format},
                          {"network", network().to_json()},
                          {"options", write_json(options_json(options()))},
                          {"frozen", write_json(json(frozen))}};
  for (const auto& [name, text] : more)
    if (!metadata.emplace(name, text).second)
      throw Error{"save",
                  ErrorCode::invalid_argument,
                  "metadata '" + name + "' is the file's own",
                  {{"metadata", name}}};
  save_safetensors(path, tensors, metadata);
}

Model Model::load(const std::filesystem::path& path, std::optional<Device> device,
                  Schedule schedule) {
  const SafetensorsFile file = open_safetensors(path);
  const TensorMetadata& metadata = file.metadata();
  if (entry(path, metadata, "format") != format)
    refuse(path, "its format is '" + metadata.at("format") + "'");
  std::optional<Model> made;
  try {
    const json text = parse_json_or_throw(entry(path, metadata, "options"));
    check_schedule(path, text, static_cast<bool>(schedule));
    ModelOptions options = options_of(text);
    options.device = device;
    options.schedule = std::move(schedule);
    made.emplace(Network::from_json(entry(path, metadata, "network")), std::move(options));
    const auto frozen =
        parse_json_or_throw(entry(path, metadata, "frozen")).get<std::set<std::string>>();
    if (!frozen.empty()) {
      // Also all of them: whoever saved the model had it so.
      const auto locked = made->data_->lock();
      made->data_->set_frozen(frozen);
    }
  } catch (const json::exception& error) {
    refuse(path, error.what());
  }
  const DeviceScope scope{made->device()};
  const TensorMap tensors = file.load_all();
  TrainingState state = made->state();
  take_all(path, tensors, variable_prefix, state.trained);
  take_all(path, tensors, variable_prefix, state.kept);
  take_all(path, tensors, slot_prefix, state.slots);
  const auto key = tensors.find(key_name);
  if (key == tensors.end() || key->second.spec() != state.key.spec())
    refuse(path, "its key is missing");
  state.key = key->second;
  const std::size_t known = state.trained.size() + state.kept.size() + state.slots.size() + 1;
  if (tensors.size() != known) refuse(path, "it holds tensors that the model does not have");
  made->restore(std::move(state));
  return *made;
}

}  // namespace stoker::nn
