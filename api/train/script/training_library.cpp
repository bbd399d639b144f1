#include "stoker/api/train/script/training_library.hpp"

#include <algorithm>

#include "stoker/api/script/functions/library.hpp"
#include "stoker/api/train/script/argument_reads.hpp"
#include "stoker/api/train/script/handles.hpp"
#include "stoker/api/train/script/saved_models.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn {
namespace {

namespace lua = stoker::script;

/// nn.dens: there is no such function, but one that is nearly called so.
int refuse_name(lua_State* L, lua::Script&) {
  std::string wanted{lua::check_text(L, 2).substr(0, 64)};
  std::vector<std::string> names;
  lua_pushnil(L);
  while (lua_next(L, lua_upvalueindex(1)) != 0) {
    lua_pop(L, 1);
    names.emplace_back(lua::check_text(L, -1));
  }
  std::ranges::sort(names);  // Lua's order is another one each time
  const std::vector<std::string_view> known{names.begin(), names.end()};
  const auto near = nearest_name(wanted, known);
  lua::raise(L, Error{"nn",
                      ErrorCode::not_found,
                      "there is no nn." + wanted +
                          (near ? "; did you mean nn." + std::string{*near} + "?" : ""),
                      {{"name", wanted}}});
}

int read_returned(lua_State* L, lua::Script&) {
  script::check_arguments(L);
  script::description_of(L).training = script::check_training(L, 1);
  return 0;
}

}  // namespace

Error TrainingPlan::placed(const Error& error) const {
  return script::Place{script, line}.placed(error);
}

TrainingLibrary::TrainingLibrary() : description_{std::make_unique<script::Description>()} {}
TrainingLibrary::~TrainingLibrary() = default;

void TrainingLibrary::open(lua_State* L) {
  lua::open_tensor_functions(L);
  script::set_description(L, *description_);
  script::watch_arguments(L);
  script::open_handles(L);
  lua_newtable(L);
  script::open_layers(L);
  script::open_data(L);
  script::open_models(L);
  script::open_saved_models(L);
  lua_newtable(L);
  lua_pushvalue(L, -2);
  lua_pushcclosure(L, lua::function<refuse_name>, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setglobal(L, "nn");
}

void TrainingLibrary::on_returned(lua_State* L, int first) {
  const int count = lua_gettop(L) - first + 1;
  if (count == 0)
    lua::raise(L, Error{"nn", ErrorCode::script_error,
                        "a training script ends with: return nn.model(…), {data = …}"});
  const script::Place place =
      script::test_model(L, first) ? (*script::test_model(L, first))->place : script::Place{};
  // No line of the script runs any more: what is wrong now is where the model was made.
  lua_pushcfunction(L, lua::function<read_returned>);
  lua_insert(L, first);
  const int status = lua_pcall(L, count, 0, 0);
  if (status == LUA_OK) return;
  lua::check_budget(L);
  const Error error = lua::error_at_top(L, status);
  lua::raise(L, place.line > 0 ? error.with("line", std::to_string(place.line)) : error);
}

TrainingPlan TrainingLibrary::plan(const Device& device) const {
  if (!description_->training)
    throw Error{"nn", ErrorCode::script_error, "the script has not ended, or not well"};
  const script::TrainingRecipe& training = *description_->training;
  const script::Place& place = training.model->place;
  const DeviceScope scope{device};
  Network network = description_->network(*training.model);
  Model model = place.call([&] {
    ModelOptions options = training.model->options;
    options.device = device;
    if (!training.model->schedule.empty()) options.schedule = schedule(training.model->schedule);
    Model made{std::move(network), std::move(options)};
    if (!training.model->freeze.empty()) made.freeze(training.model->freeze);
    for (const MetricName& one : training.fit.metrics) (void)metric(one);
    return made;
  });
  TrainingPlan made{.model = std::move(model),
                    .data = training.data->read(),
                    .fit = training.fit,
                    .save = training.save,
                    .script = place.script,
                    .line = place.line};
  if (training.validation) made.fit.validation = training.validation->read();
  return made;
}

}  // namespace stoker::nn
