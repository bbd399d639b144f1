#include "stoker/api/serve/repository/config_fields.hpp"

#include <algorithm>
#include <charconv>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::serve {
namespace {

using Kind = ConfigValue::Kind;

[[noreturn]] void refuse_field(std::string reason, std::string field) {
  throw Error{
      "config", ErrorCode::invalid_argument, std::move(reason), {{"field", std::move(field)}}};
}

}  // namespace

ConfigFields::ConfigFields(const ConfigValue& message, ConfigForm form, std::string path)
    : message_{&message}, form_{form}, path_{std::move(path)} {}

std::string ConfigFields::path_of(std::string_view name) const {
  return printable(path_.empty() ? std::string{name} : path_ + "." + std::string{name});
}

bool ConfigFields::has(std::string_view name) const noexcept {
  return std::ranges::find(message_->fields, name, &ConfigField::name) != message_->fields.end();
}

void ConfigFields::expected(std::string_view name, std::string_view what) const {
  refuse_field("field '" + path_of(name) + "' must be " + std::string{what}, path_of(name));
}

std::vector<const ConfigValue*> ConfigFields::take(std::string_view name) {
  known_.emplace_back(name);
  std::vector<const ConfigValue*> values;
  for (const ConfigField& field : message_->fields)
    if (field.name == name) values.push_back(&field.value);
  return values;
}

const ConfigValue* ConfigFields::take_one(std::string_view name) {
  const std::vector<const ConfigValue*> values = take(name);
  if (values.size() > 1) refuse_field("field '" + path_of(name) + "' comes twice", path_of(name));
  return values.empty() ? nullptr : values.front();
}

std::optional<std::string> ConfigFields::text(std::string_view name) {
  const ConfigValue* const value = take_one(name);
  if (value == nullptr) return {};
  if (value->kind != Kind::text) expected(name, "a string");
  return value->text;
}

std::int64_t ConfigFields::integer_of(std::string_view name, const ConfigValue& value) const {
  // The JSON form of protocol buffers has 64-bit integers as strings.
  const bool may_be =
      value.kind == Kind::word || (value.kind == Kind::text && form_ == ConfigForm::json);
  std::int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, failure] = std::from_chars(value.text.data(), end, number);
  std::string_view digits{value.text};
  if (digits.starts_with('-')) digits.remove_prefix(1);
  const bool is_octal =
      digits.starts_with('0') && digits.size() > 1;  // as protocol buffers read it
  if (!may_be || failure != std::errc{} || stop != end || is_octal)
    expected(name, "a whole number");
  return number;
}

std::optional<std::int64_t> ConfigFields::integer(std::string_view name) {
  const ConfigValue* const value = take_one(name);
  if (value == nullptr) return {};
  return integer_of(name, *value);
}

std::optional<std::uint64_t> ConfigFields::whole(std::string_view name) {
  const std::optional<std::int64_t> number = integer(name);
  if (!number) return {};
  if (*number < 0) expected(name, "at least 0");
  return static_cast<std::uint64_t>(*number);
}

std::optional<bool> ConfigFields::flag(std::string_view name) {
  const ConfigValue* const value = take_one(name);
  if (value == nullptr) return {};
  if (value->kind != Kind::word || (value->text != "true" && value->text != "false"))
    expected(name, "true or false");
  return value->text == "true";
}

std::optional<std::size_t> ConfigFields::choice(std::string_view name,
                                                std::initializer_list<std::string_view> names) {
  const ConfigValue* const value = take_one(name);
  if (value == nullptr) return {};
  const auto place = std::ranges::find(names, word_of(name, *value));
  if (place != names.end()) return static_cast<std::size_t>(place - names.begin());
  std::string all = "one of";
  for (const std::string_view one : names) all += " " + std::string{one};
  expected(name, all);
}

const std::string& ConfigFields::word_of(std::string_view name, const ConfigValue& value) const {
  if (value.kind != (form_ == ConfigForm::json ? Kind::text : Kind::word))
    expected(name, form_ == ConfigForm::json ? "a name in quotes" : "a name without quotes");
  return value.text;
}

std::optional<std::string> ConfigFields::word(std::string_view name) {
  const ConfigValue* const value = take_one(name);
  if (value == nullptr) return {};
  return word_of(name, *value);
}

ConfigFields ConfigFields::below(std::string_view name, const ConfigValue& value) const {
  if (value.kind != Kind::message) expected(name, "a message");
  return {value, form_, path_of(name)};
}

std::optional<ConfigFields> ConfigFields::message(std::string_view name) {
  const ConfigValue* const value = take_one(name);
  if (value == nullptr) return {};
  return below(name, *value);
}

std::vector<ConfigFields> ConfigFields::messages(std::string_view name) {
  const std::vector<const ConfigValue*> values = take(name);
  std::vector<ConfigFields> all;
  all.reserve(values.size());
  for (const ConfigValue* const value : values) all.push_back(below(name, *value));
  return all;
}

std::vector<std::int64_t> ConfigFields::integers(std::string_view name) {
  const std::vector<const ConfigValue*> values = take(name);
  std::vector<std::int64_t> all;
  all.reserve(values.size());
  for (const ConfigValue* const value : values) all.push_back(integer_of(name, *value));
  return all;
}

std::vector<std::pair<std::string, ConfigFields>> ConfigFields::map(std::string_view name) {
  std::vector<std::pair<std::string, ConfigFields>> entries;
  const auto add = [&](const std::string& key, const ConfigValue& value) {
    if (std::ranges::any_of(entries, [&](const auto& entry) { return entry.first == key; }))
      refuse_field("field '" + path_of(name) + "' has '" + printable(key) + "' twice",
                   path_of(name));
    entries.emplace_back(key, below(std::string{name} + "." + key, value));
  };
  if (form_ == ConfigForm::json) {
    const ConfigValue* const value = take_one(name);
    if (value == nullptr) return entries;
    if (value->kind != Kind::message) expected(name, "an object");
    for (const ConfigField& field : value->fields) add(field.name, field.value);
    return entries;
  }
  for (const ConfigValue* const value : take(name)) {
    ConfigFields entry = below(name, *value);
    const ConfigValue* const key = entry.take_one("key");  // a string, or a number
    const ConfigValue* const content = entry.take_one("value");
    if (key == nullptr || key->kind == Kind::message || content == nullptr)
      expected(name, "a key and a value");
    entry.end();
    add(key->text, *content);
  }
  return entries;
}

void ConfigFields::leave_out(std::initializer_list<std::string_view> names,
                             const std::string& model) {
  for (const std::string_view name : names) {
    known_.emplace_back(name);
    if (has(name))
      log_info("a field of a model's configuration has no effect",
               {{"model", model}, {"field", path_of(name)}});
  }
}

void ConfigFields::refuse(std::string_view name, std::string_view reason) const {
  if (has(name))
    throw Error{"config",
                ErrorCode::unsupported,
                "field '" + path_of(name) + "' is not supported: " + std::string{reason},
                {{"field", path_of(name)}}};
}

void ConfigFields::end() const {
  for (const ConfigField& field : message_->fields) {
    if (std::ranges::find(known_, field.name) != known_.end()) continue;
    const std::vector<std::string_view> names{known_.begin(), known_.end()};
    refuse_field(
        "there is no field '" + path_of(field.name) + "'" + did_you_mean(field.name, names),
        path_of(field.name));
  }
}

}  // namespace stoker::serve
