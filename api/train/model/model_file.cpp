#include "stoker/api/train/model/model_file.hpp"

#include <nlohmann/json.hpp>

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

}  // namespace

void write_model(const std::filesystem::path& path, const SavedModel& model,
                 const std::map<std::string, std::string>& more) {
  TensorMap tensors{{key_name, model.state.key}};
  for (const auto& [name, tensor] : model.state.variables())
    tensors.emplace(variable_prefix + name, tensor);
  for (const auto& [name, tensor] : model.state.slots) tensors.emplace(slot_prefix + name, tensor);
  TensorMetadata metadata{{"format", format},
                          {"network", model.network.to_json()},
                          {"options", write_json(options_json(model.options))},
                          {"frozen", write_json(json(model.frozen))}};
  for (const auto& [name, text] : more)
    if (!metadata.emplace(name, text).second)
      throw Error{"save",
                  ErrorCode::invalid_argument,
                  "metadata '" + name + "' is the file's own",
                  {{"metadata", name}}};
  save_safetensors(path, tensors, metadata);
}

ModelFile::ModelFile(std::filesystem::path path, const SafetensorsOptions& reading)
    : path_{std::move(path)}, file_{open_safetensors(path_, reading)} {
  if (entry("format") != format) refuse("its format is '" + entry("format") + "'");
  try {
    const json text = parse_json_or_throw(entry("options"));
    options_ = options_of(text);
    if (text.contains("schedule")) scheduled_ = text["schedule"].get<bool>();
    network_.emplace(Network::from_json(entry("network")));
    frozen_ = parse_json_or_throw(entry("frozen")).get<std::set<std::string>>();
  } catch (const json::exception& error) {
    refuse(error.what());
  }
}

void ModelFile::refuse(const std::string& why) const {
  throw Error{"load",
              ErrorCode::invalid_argument,
              path_.string() + " is no saved model: " + why,
              {{"file", path_.string()}}};
}

const std::string& ModelFile::entry(const char* name) const {
  const auto found = file_.metadata().find(name);
  if (found == file_.metadata().end()) refuse(std::string{"it does not say its "} + name);
  return found->second;
}

/// A schedule is a function, so a file says only whether there was one. Without it the optimizer has
/// other slots.
void ModelFile::check_schedule(bool given) const {
  const bool wanted = scheduled_.value_or(given);
  if (wanted == given) return;
  throw Error{
      "load",
      ErrorCode::invalid_argument,
      path_.string() +
          (wanted ? " holds a model that was made with a schedule, which is not in the file: "
                    "give it again, load(path, device, schedule)"
                  : " holds a model that was made without a schedule: load it without one"),
      {{"file", path_.string()}, {"parameter", "schedule"}}};
}

std::map<std::string, TensorSpec> ModelFile::variables() const {
  std::map<std::string, TensorSpec> found;
  for (const LayerInfo& layer : network().layers())
    for (const VariableSpec& variable : layer.variables) {
      const std::string name = layer.name + "." + variable.name;
      if (!file_.contains(variable_prefix + name)) refuse("'" + name + "' is missing");
      const TensorSpec& spec = file_.spec(variable_prefix + name);
      // The dtype is the precision's to choose; numbers with a fraction stay such.
      if (spec.shape != variable.shape || is_float(spec.dtype) != is_float(variable.dtype))
        refuse("'" + name + "' is " + spec.to_string() + ", expected " +
               TensorSpec{variable.dtype, variable.shape}.to_string());
      found.emplace(name, spec);
    }
  return found;
}

std::vector<std::byte> ModelFile::bytes_of(const std::string& variable) const {
  return file_.bytes_of(variable_prefix + variable);
}

/// Exactly the tensors that are wanted, of their shapes: in the place of those in `wanted`.
template <class Map>
void ModelFile::take_all(const TensorMap& tensors, const char* prefix, Map& wanted) const {
  for (auto& [name, tensor] : wanted) {
    const auto found = tensors.find(prefix + name);
    if (found == tensors.end()) refuse("'" + name + "' is missing");
    if (found->second.spec() != tensor.spec())
      refuse("'" + name + "' is " + found->second.spec().to_string() + ", expected " +
             tensor.spec().to_string());
    tensor = found->second;
  }
}

TrainingState ModelFile::state(TrainingState like) const {
  const TensorMap tensors = file_.load_all();
  take_all(tensors, variable_prefix, like.trained);
  take_all(tensors, variable_prefix, like.kept);
  take_all(tensors, slot_prefix, like.slots);
  const auto key = tensors.find(key_name);
  if (key == tensors.end() || key->second.spec() != like.key.spec()) refuse("its key is missing");
  like.key = key->second;
  const std::size_t known = like.trained.size() + like.kept.size() + like.slots.size() + 1;
  if (tensors.size() != known) refuse("it holds tensors that the model does not have");
  return like;
}

}  // namespace stoker::nn
