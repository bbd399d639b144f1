#include "stoker/api/tensor/io/serialize.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::detail {
namespace {

using Json = nlohmann::json;
using Kind = Layout::Kind;

constexpr const char* op = "deserialize";
constexpr const char* form_key = "stoker.structure";
/// Levels of a structure; more are no program's.
constexpr int deepest = 64;

/// A tensor is 0, a list [part, …], a map {"keys": […], "parts": […]}.
Json json_of(const Layout& layout) {
  if (layout.kind == Kind::tensor) return 0;
  Json parts = Json::array();
  for (const Layout& one : layout.parts) parts.push_back(json_of(one));
  if (layout.kind == Kind::list) return parts;
  return {{"keys", layout.keys}, {"parts", std::move(parts)}};
}

[[noreturn]] void damaged_form() {
  throw Error{op, ErrorCode::io_error, "the bytes do not say what structure they hold"};
}

Layout layout_of(const Json& json, int depth) {
  if (depth > deepest) damaged_form();
  if (json == 0) return {};
  Layout layout{json.is_object() ? Kind::map : Kind::list, {}, {}};
  const Json* parts = &json;
  if (json.is_object()) {
    if (json.size() != 2 || !json.contains("keys") || !json.contains("parts")) damaged_form();
    parts = &json["parts"];
    if (!json["keys"].is_array()) damaged_form();
    for (const Json& key : json["keys"]) {
      if (!key.is_string()) damaged_form();
      layout.keys.push_back(key.get<std::string>());
    }
  }
  if (!parts->is_array()) damaged_form();
  for (const Json& part : *parts) layout.parts.push_back(layout_of(part, depth + 1));
  if (layout.kind == Kind::map && layout.keys.size() != layout.parts.size()) damaged_form();
  return layout;
}

std::size_t tensors_in(const Layout& layout) {
  if (layout.kind == Kind::tensor) return 1;
  std::size_t count = 0;
  for (const Layout& one : layout.parts) count += tensors_in(one);
  return count;
}

}  // namespace

void refuse_structure(std::string_view expected) {
  throw Error{op,
              ErrorCode::invalid_argument,
              "the bytes hold another structure than was asked for",
              {{"expected", std::string{expected}}}};
}

void expect_list(const Layout& layout, std::size_t length) {
  expect_kind(layout, Kind::list);
  if (layout.parts.size() != length)
    refuse_structure(std::to_string(length) + " parts, not " + std::to_string(layout.parts.size()));
}

void expect_kind(const Layout& layout, Kind kind) {
  if (layout.kind == kind) return;
  refuse_structure(kind == Kind::tensor ? "a tensor" : kind == Kind::list ? "a list" : "a map");
}

std::vector<std::byte> write_structure(const Layout& layout, const std::vector<Tensor>& tensors) {
  eval_all(tensors, "serialize");
  TensorMap named;
  for (std::size_t i = 0; i < tensors.size(); ++i) named.emplace(std::to_string(i), tensors[i]);
  // Keys may be bytes of any kind, which JSON cannot hold: those are refused there.
  std::string form;
  try {
    form = write_json(json_of(layout));
  } catch (const Json::exception&) {
    throw Error{"serialize", ErrorCode::invalid_argument, "keys of maps are UTF-8"};
  }
  return safetensors_to_bytes(named, {{form_key, std::move(form)}});
}

ReadStructure read_structure(std::span<const std::byte> bytes) {
  const SafetensorsFile file = open_safetensors(bytes);
  const auto form = file.metadata().find(form_key);
  if (form == file.metadata().end()) damaged_form();
  const Json json = parse_json(form->second, 2 * deepest);
  if (json.is_discarded()) damaged_form();
  ReadStructure read;
  read.layout = layout_of(json, 0);
  if (tensors_in(read.layout) != file.size()) damaged_form();
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::string name = std::to_string(i);
    if (!file.contains(name)) damaged_form();
    read.tensors.push_back(file.load(name));
  }
  return read;
}

}  // namespace stoker::detail
