#include "stoker/api/train/script/saved_models.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "stoker/api/train/model/inference.hpp"
#include "stoker/api/train/model/model_file.hpp"
#include "stoker/api/train/script/handles.hpp"
#include "stoker/api/train/script/image_inputs.hpp"
#include "stoker/api/train/script/spec_rows.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/run/file_thread.hpp"
#include "stoker/pipeline/tensor/graph/node_quota.hpp"

namespace stoker::nn::script {
namespace {

namespace fs = std::filesystem;
constexpr const char* saved_model_type = "stoker.nn.saved_model";
constexpr const char* load_op = "nn.load";
// What reading and keeping a network takes on the host, for each byte of text that describes it.
constexpr std::size_t bytes_per_byte = 16;
constexpr std::size_t steps_per_layer = 400;

struct SavedModelHandle {
  std::string name;
  Inference inference;
  Variables variables;
  std::uint64_t steps_of_call = 0;  ///< instructions that a prediction is charged for
  lua::MemoryLoan loan;
};
using HandlePtr = std::unique_ptr<SavedModelHandle>;

/// What a file holds beside its tensors.
struct Opened {
  Opened(const fs::path& path, const SafetensorsOptions& reading)
      : file{path, reading},
        inference{with_precision(file.network(), precision(file.options().precision))},
        variables{file.variables()} {}
  ModelFile file;
  Inference inference;
  std::map<std::string, TensorSpec> variables;
};
using OpenedPtr = std::shared_ptr<const Opened>;

/// How long the text is that a safetensors file begins with; 0 of what is none, which opening it refuses.
std::size_t header_bytes(const fs::path& path) {
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return 0;
  const std::uintmax_t most = fs::file_size(path, failure);
  std::array<char, 8> digits{};
  std::ifstream file{path, std::ios::binary};
  if (failure || !file.read(digits.data(), digits.size())) return 0;
  std::uint64_t length = 0;
  for (std::size_t i = digits.size(); i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(digits[i]);
  return static_cast<std::size_t>(std::min<std::uintmax_t>(length, most));
}

/// Not mapped: a file that others shorten meanwhile would end the process. To make a network applies its layers,
/// to some of which a file gives ever so many operations.
Result<OpenedPtr> open_file(const fs::path& path, const std::shared_ptr<DeviceClient>& device,
                            std::size_t most_nodes) {
  const DeviceScope scope{Device{device}};
  const expr::NodeQuota quota{most_nodes};
  return std::make_shared<const Opened>(path, SafetensorsOptions{.mapped = false});
}

/// The numbers of one variable as a buffer of the script.
expr::Value read_variable(lua_State* L, lua::Script& script, const OpenedPtr& opened,
                          const std::string& name, const TensorSpec& spec) {
  using Bytes = std::shared_ptr<const std::vector<std::byte>>;
  lua::Evaluator& evaluator = script.evaluator();
  lua::value_or_raise(L, evaluator.room_for_buffer(spec.bytes()));
  const lua::MemoryLoan loan = lua::value_or_raise(L, evaluator.lend(spec.bytes()));
  const auto bytes =
      lua::on_file_thread<Bytes>(L, script, load_op, [opened, name]() -> Result<Bytes> {
        return std::make_shared<const std::vector<std::byte>>(opened->file.bytes_of(name));
      });
  lua::spend(L, steps_per_layer + spec.bytes() / 64);
  return lua::value_or_raise(L, evaluator.constant(spec, *bytes));
}

/// One layer may be applied again and again.
std::uint64_t steps_of(const Network& network) {
  std::uint64_t steps = steps_per_layer;
  for (const LayerInfo& layer : network.layers()) steps += steps_per_layer * layer.applications;
  return steps;
}

const SavedModelHandle& check_saved_model(lua_State* L, std::string_view op) {
  const HandlePtr* model = lua::test_object<HandlePtr>(L, 1, saved_model_type);
  if (model == nullptr)
    lua::raise(L, Error{std::string{op}, ErrorCode::invalid_argument,
                        std::string{"expected a model that nn.load gave, got a "} +
                            luaL_typename(L, 1) + "; write m:predict(x)"});
  return **model;
}

/// What a prediction is given: buffers in the order of the inputs, or a table of them by name.
struct Given {
  std::vector<Tensor> inputs;
  std::vector<expr::Value> values;
};

Given check_in_order(lua_State* L, const char* op) {
  Given given;
  for (int i = 2; i <= lua_gettop(L); ++i) {
    if (lua_isnil(L, i)) {
      given.inputs.emplace_back();
      continue;
    }
    given.values.push_back(lua::check_buffer(L, i, op));
    given.inputs.emplace_back(given.values.back());
  }
  return given;
}

ImageTarget image_target(const Network::Input& input) {
  ImageTarget target{.name = input.name,
                     .type = input.row.to_string(),
                     .dtype = input.row.dtype,
                     .dims = std::vector<std::optional<std::int64_t>>{}};
  if (input.row.batched) target.dims->emplace_back();
  for (const std::int64_t extent : input.row.shape.extents()) target.dims->emplace_back(extent);
  return target;
}

/// The table of inputs, after which options of pictures may stand.
Given check_by_name(lua_State* L, const char* op, const Network& network) {
  Given given;
  Variables inputs;
  ImageInputs pictures{L, 3};
  lua_pushnil(L);
  while (lua_next(L, 2) != 0) {
    lua::spend(L, 10);
    if (lua_type(L, -2) != LUA_TSTRING)
      lua::raise(L, Error{op, ErrorCode::invalid_argument,
                          "inputs are given by name, m:predict{name = buffer}, or in order, "
                          "m:predict(buffer, …)"});
    const std::string name{lua::check_text(L, -2)};
    expr::Value value = lua::check_buffer(L, -1, op);
    const auto known = std::ranges::find(network.inputs(), name, &Network::Input::name);
    if (known != network.inputs().end()) value = pictures.input(L, value, image_target(*known));
    given.values.push_back(value);
    inputs.emplace(name, Tensor{given.values.back()});
    lua_pop(L, 1);
  }
  pictures.check_used(L);
  given.inputs = network.in_order(inputs);
  return given;
}

/// m:predict(x, …): the outputs, in order; nil for one that is missing since an input is.
/// m:predict{name = x, …}: a table of them by name.
int predict(lua_State* L, lua::Script& script) {
  constexpr const char* op = "predict";
  const SavedModelHandle& model = check_saved_model(L, op);
  const bool by_name = lua_istable(L, 2) && lua_gettop(L) <= 3;
  const Given given =
      by_name ? check_by_name(L, op, model.inference.network()) : check_in_order(L, op);
  lua::spend(L, model.steps_of_call);
  std::vector<bool> is_there;
  const auto made = script.evaluator().call(op, lua::current_line(L), given.values, [&] {
    const DeviceScope scope{Device{script.services().device}};
    std::vector<expr::Value> values;
    for (const Tensor& output : model.inference.apply(model.variables, given.inputs)) {
      is_there.push_back(output.has_value());
      if (output.has_value()) values.push_back(output.value());
    }
    return values;
  });
  const std::vector<expr::Value> outputs = lua::value_or_raise(L, made);
  luaL_checkstack(L, static_cast<int>(is_there.size()) + 2, "too many outputs");
  if (by_name) lua_createtable(L, 0, static_cast<int>(outputs.size()));
  auto next = outputs.begin();
  for (std::size_t i = 0; i < is_there.size(); ++i) {
    if (is_there[i])
      lua::push_buffer(L, *next++);
    else
      lua_pushnil(L);
    if (by_name) lua_setfield(L, -2, model.inference.network().output_names()[i].c_str());
  }
  return by_name ? 1 : static_cast<int>(is_there.size());
}

SpecRow spec_row(const std::string& name, const RowSpec& row, bool optional = false) {
  SpecRow made{.name = name, .dtype = std::string{to_string(row.dtype)}, .optional = optional};
  made.shape.emplace();
  if (row.batched) made.shape->push_back({.extent = {}, .name = "batch"});
  for (const std::int64_t extent : row.shape.extents())
    made.shape->push_back({.extent = extent, .name = {}});
  return made;
}

int model_field(lua_State* L, lua::Script&) {
  const Network& network = check_saved_model(L, "model").inference.network();
  const std::string wanted =
      lua_type(L, 2) == LUA_TSTRING ? std::string{lua::check_text(L, 2).substr(0, 64)} : "";
  std::vector<SpecRow> rows;
  if (wanted == "predict") {
    lua_pushcfunction(L, lua::function<predict>);
    return 1;
  }
  if (wanted == "inputs") {
    for (const Network::Input& input : network.inputs())
      rows.push_back(spec_row(input.name, input.row, input.optional));
  } else if (wanted == "outputs") {
    for (std::size_t i = 0; i < network.outputs().size(); ++i)
      rows.push_back(spec_row(network.output_names()[i], network.outputs()[i]));
  } else {
    lua::raise(L, Error{"model",
                        ErrorCode::not_found,
                        "a loaded model has no field '" + wanted +
                            "', only m:predict(x), m.inputs and m.outputs",
                        {{"name", wanted}}});
  }
  push_spec_rows(L, rows);
  return 1;
}

int refuse_model_field(lua_State* L, lua::Script&) {
  return luaL_error(L, "the fields of a model cannot be changed");
}

/// "model digits.safetensors: [batch, 8, 8, 1] -> [batch, 10]".
int model_text(lua_State* L, lua::Script&) {
  const SavedModelHandle& model = check_saved_model(L, "tostring");
  const Network& network = model.inference.network();
  std::string from;
  for (const Network::Input& input : network.inputs())
    from += (from.empty() ? "" : ", ") + input.row.to_string();
  std::string to;
  for (const RowSpec& row : network.outputs()) to += (to.empty() ? "" : ", ") + row.to_string();
  lua::push_text(L, "model " + model.name + ": " + from + " -> " + to);
  return 1;
}

}  // namespace

int load_saved_model(lua_State* L, lua::Script& script) {
  const fs::path path = check_path(L, 1, "load");
  const auto header = lua::on_file_thread<std::size_t>(
      L, script, load_op, [path]() -> Result<std::size_t> { return header_bytes(path); });
  lua::MemoryLoan loan = lua::value_or_raise(L, script.evaluator().lend(bytes_per_byte * header));
  lua::spend(L, 1000 + header);
  const auto opened = lua::on_file_thread<OpenedPtr>(
      L, script, load_op,
      [path, device = script.services().device, nodes = script.evaluator().room_for_nodes()] {
        return open_file(path, device, nodes);
      });
  Variables variables;
  for (const auto& [name, spec] : opened->variables)
    variables.emplace(name, Tensor{read_variable(L, script, opened, name, spec)});
  lua::push_object<HandlePtr>(L, saved_model_type,
                              std::make_unique<SavedModelHandle>(SavedModelHandle{
                                  path.filename().string(), opened->inference, std::move(variables),
                                  steps_of(opened->inference.network()), std::move(loan)}));
  return 1;
}

void open_saved_models(lua_State* L) {
  lua::open_type<HandlePtr>(L, saved_model_type);
  const luaL_Reg methods[] = {{"__index", lua::function<model_field>},
                              {"__newindex", lua::function<refuse_model_field>},
                              {"__tostring", lua::function<model_text>},
                              {nullptr, nullptr}};
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
  lua_pushcfunction(L, lua::function<load_saved_model>);
  lua_setfield(L, -2, "load");
}

}  // namespace stoker::nn::script
