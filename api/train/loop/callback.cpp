#include "stoker/api/train/loop/callback.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::nn {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& why) {
  throw Error{"callbacks", ErrorCode::invalid_argument,
              "this is not what callbacks have seen: " + why};
}

}  // namespace

std::string seen_by(std::span<const Callback> callbacks) {
  json all = json::array();
  for (const Callback& one : callbacks)
    if (const auto& memory = one.memory())
      all.push_back({{"kind", memory->kind()}, {"seen", parse_json_or_throw(memory->seen())}});
  return write_json(all);
}

void recall(std::span<const Callback> callbacks, std::string_view text) {
  const json all = parse_json(text);
  if (!all.is_array()) refuse("expected a list");
  std::map<std::string, std::vector<std::string>, std::less<>> known;
  for (const json& one : all) {
    if (!one.is_object() || !one.contains("seen") || !one.contains("kind") ||
        !one["kind"].is_string())
      refuse("expected a kind and what it has seen");
    known[one["kind"].get<std::string>()].push_back(write_json(one["seen"]));
  }
  std::map<std::string_view, std::size_t> taken;
  for (const Callback& one : callbacks) {
    const auto& memory = one.memory();
    if (!memory) continue;
    const auto of_kind = known.find(memory->kind());
    const std::size_t number = taken[memory->kind()]++;
    if (of_kind != known.end() && number < of_kind->second.size())
      memory->recall(of_kind->second[number]);
  }
}

}  // namespace stoker::nn
