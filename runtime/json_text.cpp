#include "stoker/runtime/json_text.hpp"

#include <nlohmann/json.hpp>

namespace stoker {

using nlohmann::json;

json parse_json(std::string_view text, int deepest) {
  bool deep = false;
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    deep |= depth > deepest;
    return !deep;
  };
  json made = json::parse(text, watch, false);
  return deep ? json(json::value_t::discarded) : made;
}

}  // namespace stoker
