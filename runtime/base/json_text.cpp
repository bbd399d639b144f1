#include "stoker/runtime/base/json_text.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

namespace stoker {
namespace {

using nlohmann::json;
using Watch = json::parser_callback_t;

/// `watch` says false where the text nests too deep, and sets `deep`.
json parse_watched(std::string_view text, const Watch& watch, const bool& deep) {
  json made = json::parse(text, watch, false);
  return deep ? json(json::value_t::discarded) : made;
}

}  // namespace

json parse_json(std::string_view text, int deepest) {
  bool deep = false;
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    deep |= depth > deepest;
    return !deep;
  };
  return parse_watched(text, watch, deep);
}

json parse_json(std::string_view text, int deepest, std::optional<std::string>& repeated) {
  bool deep = false;
  std::vector<std::set<std::string>> seen;  // the keys of each object that is open
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    deep |= depth > deepest;
    if (event == json::parse_event_t::object_start) seen.emplace_back();
    if (event == json::parse_event_t::object_end && !seen.empty()) seen.pop_back();
    if (event == json::parse_event_t::key && !seen.empty()) {
      auto key = value.get<std::string>();
      if (!seen.back().insert(key).second) repeated = std::move(key);
    }
    return !deep;
  };
  return parse_watched(text, watch, deep);
}

json parse_json_or_throw(std::string_view text) { return json::parse(text); }

std::string write_json(const json& document, BadUtf8 bad, int indent) {
  return document.dump(
      indent, ' ', false,
      bad == BadUtf8::refuse ? json::error_handler_t::strict : json::error_handler_t::replace);
}

}  // namespace stoker
