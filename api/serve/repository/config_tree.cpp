#include "stoker/api/serve/repository/config_tree.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stoker/api/serve/repository/protobuf_text.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::serve {
namespace {

using nlohmann::json;

constexpr int deepest_json = 32;

[[noreturn]] void refuse_json(std::string reason) {
  throw Error{"config", ErrorCode::invalid_argument, std::move(reason)};
}

ConfigValue message_of(const json& object);

ConfigValue value_of(const std::string& name, const json& value) {
  if (value.is_object()) return message_of(value);
  if (value.is_string()) return {ConfigValue::Kind::text, value.get<std::string>(), {}};
  if (value.is_array()) refuse_json("field '" + name + "' has a list within a list");
  return {ConfigValue::Kind::word, write_json(value), {}};
}

ConfigValue message_of(const json& object) {
  ConfigValue message;
  for (const auto& [name, value] : object.items()) {
    if (value.is_null()) continue;
    if (!value.is_array()) {
      message.fields.push_back({name, value_of(name, value)});
      continue;
    }
    for (const json& one : value) message.fields.push_back({name, value_of(name, one)});
  }
  return message;
}

}  // namespace

ConfigTree read_config(std::string_view text, ConfigForm form) {
  if (form == ConfigForm::text) return {form, read_protobuf_text(text)};
  std::optional<std::string> repeated;
  const json document = parse_json(text, deepest_json, repeated);
  if (document.is_discarded()) {
    try {
      static_cast<void>(parse_json_or_throw(text));
    } catch (const json::exception& failure) {
      refuse_json(failure.what());
    }
    refuse_json("it nests too deeply");
  }
  if (repeated) refuse_json("field '" + *repeated + "' comes twice");
  if (!document.is_object()) refuse_json("it is no JSON object");
  return {form, message_of(document)};
}

}  // namespace stoker::serve
