#include "stoker/api/model/script/onnx_models.hpp"

#include <algorithm>
#include <fstream>
#include <memory>

#include "stoker/api/model/core/backends.hpp"
#include "stoker/api/model/script/named_inputs.hpp"
#include "stoker/api/model/script/returned_model.hpp"
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/run/model.hpp"
#include "stoker/api/onnx/run/refused_nodes.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/train/script/image_inputs.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/pipeline/script/run/file_thread.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::models {
namespace {

namespace fs = std::filesystem;
namespace lua = stoker::script;

constexpr const char* type_name = "stoker.onnx.model";
constexpr const char* load_op = "model.load";
constexpr const char* warm_up_op = "warm_up";
// What a graph takes on the host for each byte of the file that describes it.
constexpr std::size_t bytes_per_byte = 16;
constexpr std::size_t steps_per_node = 400;
// No account is kept of plans, so there are few.
constexpr std::size_t most_plans = 8;

using FilePtr = std::shared_ptr<const onnx::ModelFile>;

struct Handle {
  std::string name;
  onnx::Model model;
  std::vector<onnx::ValueInfo> inputs;
  std::uint64_t steps_of_call = 0;
  lua::MemoryLoan file;   ///< its bytes, where the weights are
  lua::MemoryLoan graph;  ///< what describes it
  lua::Evaluator::ChargePtr weights;
};
using HandlePtr = std::unique_ptr<Handle>;

std::size_t size_of_file(const fs::path& path) {
  std::error_code failure;
  const std::uintmax_t size = fs::is_regular_file(path, failure) ? fs::file_size(path, failure) : 0;
  return failure ? 0 : static_cast<std::size_t>(size);
}

/// At most `most` bytes: the file may have grown.
Result<FilePtr> read_file(const fs::path& path, std::size_t most, const onnx::ReadLimits& limits) {
  std::ifstream file{path, std::ios::binary};
  const auto bytes = std::make_shared<std::vector<std::byte>>(most);
  file.read(reinterpret_cast<char*>(bytes->data()), static_cast<std::streamsize>(most));
  if (file.bad() || !file.is_open())
    return Error{
        load_op, ErrorCode::io_error, "the file cannot be read", {{"path", path.string()}}};
  bytes->resize(static_cast<std::size_t>(file.gcount()));
  onnx::ReadOptions options = onnx::listing_refused_nodes(onnx::OperatorTable::standard());
  options.limits = limits;
  STOKER_ASSIGN(onnx::ModelFile read, onnx::read_model(*bytes, options, bytes));
  return std::make_shared<const onnx::ModelFile>(std::move(read));
}

/// What is left of the script's memory bounds what a file may make of a few bytes.
onnx::ReadLimits limits_of(lua::Script& script) {
  onnx::ReadLimits limits;
  limits.nodes = std::min(limits.nodes, script.evaluator().room_for_nodes());
  const std::size_t left = script.budget().memory_left();
  limits.items = std::min(limits.items, left / 64);
  limits.inlined_bytes = std::min<std::uint64_t>(limits.inlined_bytes, left);
  limits.dense_bytes = std::min<std::uint64_t>(limits.dense_bytes, left);
  return limits;
}

std::size_t bytes_of_weights(const onnx::Graph& graph) {
  std::size_t bytes = 0;
  for (const onnx::Initializer& one : graph.initializers) bytes += one.tensor.bytes.view.size();
  return bytes;
}

const Handle& check_model(lua_State* L, std::string_view op) {
  const HandlePtr* handle = lua::test_object<HandlePtr>(L, 1, type_name);
  if (handle == nullptr)
    lua::raise(L, Error{std::string{op}, ErrorCode::invalid_argument,
                        std::string{"expected a model, got a "} + luaL_typename(L, 1) +
                            "; write m:predict{name = buffer}"});
  return **handle;
}

/// What a prediction is given, and what its strings take of the script's memory meanwhile: a list may have the same
/// long string many times.
struct Given {
  onnx::NamedValues values;
  std::vector<lua::MemoryLoan> loans;
};

/// The strings of the list at the top of the stack.
onnx::Texts check_texts(lua_State* L, const std::string& name, Given& given) {
  std::size_t bytes = 0;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
  lua_pushnil(L);
  if (count == 0 && lua_next(L, -2) != 0)
    lua::raise(L, Error{predict_op,
                        ErrorCode::invalid_argument,
                        "input '" + name + "': expected a buffer or a list of strings, got a table",
                        {{"input", name}}});
  if (count > 0) lua_pop(L, 1);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua::spend(L, 2);
    if (lua_rawgeti(L, -1, i) != LUA_TSTRING)
      lua::raise(L,
                 Error{predict_op,
                       ErrorCode::invalid_argument,
                       "input '" + name + "': expected a buffer or a list of strings, of which " +
                           std::to_string(i) + " is " + lua::value_text(L, -1),
                       {{"input", name}}});
    bytes += lua_rawlen(L, -1) + sizeof(std::string) + 1;
    lua_pop(L, 1);
  }
  given.loans.push_back(lua::value_or_raise(L, lua::script_of(L).evaluator().lend(bytes)));
  lua::spend(L, bytes / 64);
  onnx::Texts texts{.shape = {count}, .strings = {}};
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    texts.strings.emplace_back(lua::check_text(L, -1));
    lua_pop(L, 1);
  }
  return texts;
}

/// Texts of a list, for inputs that are such; else the buffer there, or what a picture becomes.
onnx::Value check_input(lua_State* L, const std::string& name, const onnx::Model& model,
                        nn::script::ImageInputs& pictures, Given& given) {
  if (lua_istable(L, -1)) return check_texts(L, name, given);
  expr::Value value = check_named_buffer(L, name);
  const auto known = std::ranges::find(model.inputs(), name, &onnx::ValueInfo::name);
  if (known != model.inputs().end()) value = pictures.input(L, value, image_target(*known));
  lua::value_or_raise(L, lua::script_of(L).evaluator().wait({&value, 1}));
  // A node of its own: the script's is charged to the script, and ends with it.
  return Tensor{Buffer{value.buffer()}};
}

/// The table of inputs at `index`, after which options of pictures may stand.
Given check_inputs(lua_State* L, int index, const onnx::Model& model) {
  Given given;
  nn::script::ImageInputs pictures{L, index + 1};
  each_named_input(L, index, [&](const std::string& name) {
    given.values.emplace(name, check_input(L, name, model, pictures, given));
  });
  pictures.check_used(L);
  return given;
}

/// An element of a vector that the host knows.
void push_element(lua_State* L, const onnx::Value& vector, std::size_t i) {
  if (vector.is_texts())
    lua::push_text(L, vector.texts().strings[i]);
  else if (const auto at = static_cast<std::int64_t>(i); vector.known().holds_integers())
    lua_pushinteger(L, vector.known().taken({&at, 1}, Shape{}).to_integers()[0]);
  else
    lua_pushnumber(L, vector.known().taken({&at, 1}, Shape{}).to_reals()[0]);
}

void push_value(lua_State* L, const onnx::Value& value) {
  luaL_checkstack(L, 4, "values within values");
  if (value.is_tensor()) {
    const auto taken = lua::script_of(L).evaluator().take(value.tensor().buffer().handle());
    lua::push_buffer(L, lua::value_or_raise(L, taken));
  } else if (value.is_optional() && value.element() != nullptr) {
    push_value(L, *value.element());
  } else if (value.is_texts() || value.is_sequence()) {
    lua_newtable(L);
    const std::size_t count =
        value.is_texts() ? value.texts().strings.size() : value.elements().size();
    for (std::size_t i = 0; i < count; ++i) {
      lua::spend(L, 4);
      if (value.is_texts())
        lua::push_text(L, value.texts().strings[i]);
      else
        push_value(L, value.elements()[i]);
      lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
    }
  } else if (value.is_map()) {
    lua_newtable(L);
    const auto count = static_cast<std::size_t>(value.keys().shape()[0]);
    for (std::size_t i = 0; i < count; ++i) {
      lua::spend(L, 4);
      push_element(L, value.keys(), i);
      push_element(L, value.values(), i);
      lua_rawset(L, -3);
    }
  } else {
    lua_pushnil(L);
  }
}

/// What the model gives for the inputs that stand at 2 and 3, computed. Waits.
onnx::NamedValues outputs_of(lua_State* L, lua::Script& script, std::string_view op,
                             std::optional<onnx::NewShape> on_new_shape) {
  const Handle& handle = check_model(L, op);
  const Given given = check_inputs(L, 2, handle.model);
  lua::spend(L, handle.steps_of_call);
  const DeviceScope scope{handle.model.device()};
  auto outputs = lua::await_work<onnx::NamedValues>(
      L, script, op,
      handle.model.run(given.values, {.limits = {.cancel = script.budget().cancel()},
                                      .on_new_shape = on_new_shape}));
  std::vector<Tensor> tensors;
  std::size_t bytes = 0;
  for (const auto& [name, value] : outputs)
    value.visit_cells([&](const auto& cell) {
      tensors.push_back(cell->tensor);
      bytes += cell->tensor.bytes();
    });
  lua::value_or_raise(L, script.evaluator().room_for_buffer(bytes));
  if (!tensors.empty()) lua::await_work<void>(L, script, op, computed(tensors));
  return outputs;
}

/// m:predict({name = buffer, …}, options): the outputs by name. Waits.
int predict(lua_State* L, lua::Script& script) {
  const onnx::NamedValues outputs = outputs_of(L, script, predict_op, std::nullopt);
  lua_createtable(L, 0, static_cast<int>(outputs.size()));
  for (const auto& [name, value] : outputs) {
    lua::push_text(L, name);
    push_value(L, value);
    lua_rawset(L, -3);
  }
  return 1;
}

/// m:warm_up({name = buffer, …}, options): makes the plans for such inputs. Waits.
int warm_up(lua_State* L, lua::Script& script) {
  static_cast<void>(outputs_of(L, script, warm_up_op, onnx::NewShape::trace));
  return 0;
}

int model_field(lua_State* L, lua::Script&) {
  const Handle& handle = check_model(L, "model");
  const std::string wanted =
      lua_type(L, 2) == LUA_TSTRING ? std::string{lua::check_text(L, 2).substr(0, 64)} : "";
  if (wanted == "predict") {
    lua_pushcfunction(L, lua::function<predict>);
  } else if (wanted == "warm_up") {
    lua_pushcfunction(L, lua::function<warm_up>);
  } else if (wanted == "inputs") {
    push_infos(L, handle.inputs);
  } else if (wanted == "outputs") {
    push_infos(L, handle.model.outputs());
  } else {
    constexpr std::string_view known[] = {"predict", "warm_up", "inputs", "outputs"};
    lua::raise(
        L, Error{"model",
                 ErrorCode::not_found,
                 "a model has no field '" + wanted +
                     "', only predict, warm_up, inputs and outputs" + did_you_mean(wanted, known),
                 {{"name", wanted}}});
  }
  return 1;
}

int refuse_model_field(lua_State* L, lua::Script&) {
  return luaL_error(L, "the fields of a model cannot be changed");
}

/// "model mnist.onnx: Input3 float[1,1,28,28] -> Plus214_Output_0 float[1,10]".
int model_text(lua_State* L, lua::Script&) {
  const Handle& handle = check_model(L, "tostring");
  std::string text = "model " + handle.name + ":";
  const auto add = [&](const std::vector<onnx::ValueInfo>& infos) {
    for (std::size_t i = 0; i < infos.size(); ++i)
      text += (i == 0 ? " " : ", ") + infos[i].name + " " + infos[i].type.to_string();
  };
  add(handle.inputs);
  text += " ->";
  add(handle.model.outputs());
  lua::push_text(L, text);
  return 1;
}

}  // namespace

void open_onnx_models(lua_State* L) {
  lua::open_type<HandlePtr>(L, type_name);
  const luaL_Reg methods[] = {{"__index", lua::function<model_field>},
                              {"__newindex", lua::function<refuse_model_field>},
                              {"__tostring", lua::function<model_text>},
                              {nullptr, nullptr}};
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
}

void push_onnx_model(lua_State* L, const fs::path& path, const PlanOptions& options) {
  lua::Script& script = lua::script_of(L);
  lua::Evaluator& evaluator = script.evaluator();
  const auto size = lua::on_file_thread<std::size_t>(
      L, script, load_op, [path]() -> Result<std::size_t> { return size_of_file(path); });
  lua::MemoryLoan bytes = lua::value_or_raise(L, evaluator.lend(size));
  const TensorSpec buffer{DType::u8, Shape{static_cast<std::int64_t>(size)}};
  auto weights = lua::value_or_raise(L, evaluator.charge({&buffer, 1}));
  lua::spend(L, 1000 + size / 64);
  const auto file = lua::on_file_thread<FilePtr>(
      L, script, load_op,
      [path, size, limits = limits_of(script)] { return read_file(path, size, limits); });
  lua::MemoryLoan graph = lua::value_or_raise(
      L, evaluator.lend(bytes_per_byte * (size - std::min(size, bytes_of_weights(file->graph)))));
  using ModelPtr = std::shared_ptr<const onnx::Model>;
  // The graph as it was read: the script's limits count what the file holds, not what passes make of it.
  const auto model =
      lua::on_file_thread<ModelPtr>(L, script, load_op,
                                    [file, options, device = script.services().device,
                                     nodes = evaluator.room_for_nodes()]() -> Result<ModelPtr> {
                                      return std::make_shared<const onnx::Model>(onnx::load(
                                          file, {.device = Device{device},
                                                 .max_plans = most_plans,
                                                 .max_plan_bytes = options.max_plan_bytes,
                                                 .on_new_shape = options.on_new_shape,
                                                 .max_nodes = nodes,
                                                 .without = onnx::names_of_rewriting_passes()}));
                                    });
  lua::push_object<HandlePtr>(
      L, type_name,
      std::make_unique<Handle>(Handle{path.filename().string(), *model, inputs_of(file->graph),
                                      1000 + steps_per_node * file->graph.nodes.size(),
                                      std::move(bytes), std::move(graph), std::move(weights)}));
}

}  // namespace stoker::models
