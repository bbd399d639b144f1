// nn.model(outputs, options), and the table that a training script returns beside it.
#include <map>

#include "stoker/api/train/script/handles.hpp"
#include "stoker/api/train/script/option_table.hpp"

namespace stoker::nn::script {
namespace {

template <class Name> std::vector<Name> named(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

/// {scores = node, …}: outputs by name, in the order of the names, as that of a Lua table differs from
/// run to run.
void read_named_outputs(lua_State* L, int index, ModelRecipe& into) {
  if (!lua_istable(L, index) || lua_rawlen(L, index) > 0) return;
  std::map<std::string, Node> named;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    lua::spend(L, 4);
    const Node* node = test_node(L, -1);
    if (node == nullptr || lua_type(L, -2) != LUA_TSTRING)
      refuse(L, "model", "outputs by name are written {name = node, …}");
    named.emplace(lua::check_text(L, -2), *node);
    lua_pop(L, 1);
  }
  for (const auto& [name, node] : named) {
    into.names.push_back(name);
    into.outputs.push_back(node);
  }
}

int make_model(lua_State* L, lua::Script&) {
  ModelRecipe model;
  model.place = current_place(L);
  model.outputs = nodes_at(L, 1);
  if (model.outputs.empty()) read_named_outputs(L, 1, model);
  if (model.outputs.empty())
    refuse(L, "model",
           "expected a node, a list of nodes or {name = node, …}, got " + type_at(L, 1));
  const OptionTable options{L,
                            2,
                            "model",
                            {"loss", "losses", "optimizer", "learning_rate", "schedule",
                             "accumulate_gradients", "weight_decay", "clip_norm", "clip_value",
                             "precision", "loss_scale", "checkpoints", "freeze", "seed"}};
  ModelOptions& made = model.options;
  made.losses = named<LossName>(options.texts("losses"));
  if (const auto text = options.text("loss")) made.loss = *text;
  if (const auto text = options.text("optimizer")) made.optimizer = *text;
  if (const auto text = options.text("schedule")) model.schedule = *text;
  made.learning_rate = options.real("learning_rate");
  made.accumulate_gradients =
      options.integer("accumulate_gradients").value_or(made.accumulate_gradients);
  made.weight_decay = options.real("weight_decay").value_or(made.weight_decay);
  made.clip_norm = options.real("clip_norm");
  made.clip_value = options.real("clip_value");
  if (const auto text = options.text("precision")) made.precision = *text;
  if (const auto text = options.text("loss_scale")) made.loss_scale = *text;
  made.checkpoints = options.integer("checkpoints").value_or(made.checkpoints);
  made.seed = options.seed().value_or(made.seed);
  model.freeze = options.texts("freeze");
  push_model(L, std::move(model));
  return 1;
}

/// Callbacks by name: early_stopping = {patience = 5}, each a table of its options.
std::vector<Callback> callbacks_of(lua_State* L, const OptionTable& training) {
  std::vector<Callback> made;
  if (training.push("early_stopping")) {
    const OptionTable options{L, -1, "early_stopping", {"patience", "min_delta"}};
    callbacks::EarlyStopping how;
    how.patience = options.integer("patience").value_or(how.patience);
    how.min_delta = options.real("min_delta").value_or(how.min_delta);
    made.push_back(callbacks::early_stopping(how));
    lua_pop(L, 1);
  }
  if (training.push("reduce_on_plateau")) {
    const OptionTable options{L, -1, "reduce_on_plateau", {"patience", "factor", "min_scale"}};
    callbacks::ReduceOnPlateau how;
    how.patience = options.integer("patience").value_or(how.patience);
    how.factor = options.real("factor").value_or(how.factor);
    how.min_scale = options.real("min_scale").value_or(how.min_scale);
    made.push_back(callbacks::reduce_on_plateau(how));
    lua_pop(L, 1);
  }
  if (training.push("warmup")) {
    const OptionTable options{L, -1, "warmup", {"epochs", "start"}};
    callbacks::Warmup how;
    how.epochs = options.integer("epochs").value_or(how.epochs);
    how.start = options.real("start").value_or(how.start);
    made.push_back(callbacks::warmup(how));
    lua_pop(L, 1);
  }
  if (training.push("checkpoint")) {
    const OptionTable options{L, -1, "checkpoint", {"every", "folder"}};
    if (!options.push("folder")) refuse(L, "checkpoint", "it needs a folder");
    const std::filesystem::path folder = check_target(L, lua_gettop(L), "checkpoint");
    lua_pop(L, 1);
    made.push_back(callbacks::checkpoint(options.integer("every").value_or(1), folder));
    lua_pop(L, 1);
  }
  return made;
}

}  // namespace

TrainingRecipe check_training(lua_State* L, int first) {
  TrainingRecipe training;
  training.model = check_model(L, first, "train");
  const OptionTable options{
      L,
      first + 1,
      "train",
      {"data", "validation", "epochs", "batch_size", "shuffle", "seed", "prefetch", "metrics",
       "save", "early_stopping", "reduce_on_plateau", "warmup", "checkpoint"}};
  if (!options.push("data")) refuse(L, "train", "it says nothing of its data");
  training.data = check_data(L, lua_gettop(L), "train");
  lua_pop(L, 1);
  if (options.push("validation")) {
    training.validation = check_data(L, lua_gettop(L), "train");
    lua_pop(L, 1);
  }
  FitOptions& fit = training.fit;
  fit.epochs = options.integer("epochs").value_or(fit.epochs);
  fit.batch_size = options.integer("batch_size").value_or(fit.batch_size);
  fit.shuffle = options.flag("shuffle").value_or(fit.shuffle);
  fit.seed = options.seed();
  fit.prefetch = options.integer("prefetch").value_or(fit.prefetch);
  fit.metrics = named<MetricName>(options.texts("metrics"));
  if (fit.epochs < 1) refuse(L, "train", "epochs must be at least 1");
  if (!fit.metrics.empty() && !training.validation)
    refuse(L, "train", "metrics are those of validation data, and there are none");
  fit.callbacks = callbacks_of(L, options);
  if (options.push("save")) {
    training.save = check_target(L, lua_gettop(L), "train");
    lua_pop(L, 1);
  }
  return training;
}

void open_models(lua_State* L) {
  lua_pushcfunction(L, lua::function<make_model>);
  lua_setfield(L, -2, "model");
}

}  // namespace stoker::nn::script
