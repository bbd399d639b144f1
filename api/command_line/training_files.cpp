#include "training_files.hpp"

#include <algorithm>

#include "stoker/api/train/loop/training_file.hpp"

namespace stoker::command_line {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error{"train",
              ErrorCode::invalid_argument,
              path.string() + " cannot be gone on with: " + why,
              {{"file", path.string()}}};
}

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

std::string its_and(const std::string& what, const std::string& file, const std::string& its) {
  return "its " + what + " differs: the file has " + file + ", the script " + its;
}

/// What decides what is computed, and is not seen in tensors.
void check_precision(const std::filesystem::path& path, const nn::Model& known,
                     const nn::Model& wanted) {
  const nn::ModelInfo before = known.info();
  const nn::ModelInfo now = wanted.info();
  if (before.precision != now.precision)
    refuse(path, its_and("precision", before.precision, now.precision));
  if (before.loss_scale != now.loss_scale)
    refuse(path, its_and("loss_scale", before.loss_scale, now.loss_scale));
}

/// Of models with different tensors: refuses what the script says in another way than the file. A
/// learning rate alone may change.
void check_options(const std::filesystem::path& path, const nn::Model& known,
                   const nn::Model& wanted) {
  const auto same = [&](const std::string& what, const std::string& file, const std::string& its) {
    if (file != its) refuse(path, its_and(what, file, its));
  };
  const nn::ModelInfo before = known.info();
  const nn::ModelInfo now = wanted.info();
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

std::int64_t resume(nn::TrainingPlan& plan, const std::filesystem::path& path) {
  const nn::Model known = load(path, plan.model);
  if (known.network().to_json() != plan.model.network().to_json())
    refuse(path, "it holds another network than the script describes");
  check_precision(path, known, plan.model);
  nn::TrainingState state = known.state();
  const nn::TrainingState wanted = plan.model.state();
  if (!same_tensors(state.trained, wanted.trained) || !same_tensors(state.kept, wanted.kept) ||
      !same_tensors(state.slots, wanted.slots)) {
    check_options(path, known, plan.model);
    refuse(path, "it holds other tensors than the script's model has");
  }
  // Last, as it changes callbacks.
  const std::int64_t epoch = nn::recall_training(path, plan.fit.callbacks);
  plan.model.restore(std::move(state));
  return epoch;
}

}  // namespace stoker::command_line
