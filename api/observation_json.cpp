// Observations as JSON and back.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "stoker/api/observation.hpp"

namespace stoker {
namespace {

using nlohmann::json;
using State = ActorObservation::State;
using std::chrono::milliseconds;

constexpr std::array state_names{"running", "restarting", "stopped"};
constexpr std::array kind_names{"worker", "supervisor"};

template <class Enum, std::size_t N>
Enum named(const std::array<const char*, N>& names, const json& value) {
  const auto at = std::ranges::find(names, value.get<std::string_view>(),
                                    [](const char* name) { return std::string_view{name}; });
  if (at == names.end()) throw std::invalid_argument{"no such name: " + value.dump()};
  return static_cast<Enum>(at - names.begin());
}

template <class Key> json rate(const std::map<Key, double>* rates, const Key& key) {
  const auto none = json{};
  if (rates == nullptr) return none;
  const auto at = rates->find(key);
  return at == rates->end() ? none : json(at->second);
}

json json_of(const ActorObservation& seen, const std::map<ActorId, double>* rates) {
  json children = json::array();
  for (const ActorObservation& child : seen.children) children.push_back(json_of(child, rates));
  return {{"id", seen.id},
          {"actor", seen.actor},
          {"name", seen.name},
          {"class", seen.type},
          {"kind", kind_names.at(static_cast<std::size_t>(seen.kind))},
          {"state", state_names.at(static_cast<std::size_t>(seen.state))},
          {"restarts", seen.restarts},
          {"mailbox_depth", seen.mailbox_depth},
          {"mailbox_capacity", seen.mailbox_capacity},
          {"messages", seen.delivered},
          {"messages_per_second", rate(rates, seen.actor)},
          {"no_answer", seen.no_answer.empty() ? json{} : json(seen.no_answer)},
          {"children", std::move(children)}};
}

ActorObservation actor_from(const json& value) {
  ActorObservation seen;
  value.at("id").get_to(seen.id);
  value.at("actor").get_to(seen.actor);
  value.at("name").get_to(seen.name);
  value.at("class").get_to(seen.type);
  seen.kind = named<ChildKind>(kind_names, value.at("kind"));
  seen.state = named<State>(state_names, value.at("state"));
  value.at("restarts").get_to(seen.restarts);
  value.at("mailbox_depth").get_to(seen.mailbox_depth);
  value.at("mailbox_capacity").get_to(seen.mailbox_capacity);
  value.at("messages").get_to(seen.delivered);
  if (const json& why = value.at("no_answer"); !why.is_null()) why.get_to(seen.no_answer);
  for (const json& child : value.at("children")) seen.children.push_back(actor_from(child));
  return seen;
}

json json_of(const DeviceObservation& seen, const std::map<std::string, double>* rates) {
  const ShellStats& commands = seen.commands;
  const MemoryStats& memory = seen.memory;
  return {{"name", seen.name},
          {"description", seen.description},
          {"ready", seen.ready},
          {"reopened", seen.reopened},
          {"buffers", seen.buffers},
          {"pipelines", seen.pipelines},
          {"mailbox_depth", seen.mailbox_depth},
          {"commands",
           {{"submitted", commands.commands_submitted},
            {"queued", commands.queued},
            {"in_flight", commands.in_flight},
            {"completed", commands.commands_completed},
            {"completed_per_second", rate(rates, seen.name)},
            {"failed", commands.commands_failed},
            {"cancelled", commands.commands_cancelled},
            {"submissions", commands.submissions},
            {"muted", commands.muted}}},
          {"memory",
           {{"in_use", memory.in_use},
            {"cached", memory.cached},
            {"peak", memory.peak},
            {"budget", memory.budget},
            {"leases", memory.leases},
            {"allocations", memory.allocations},
            {"reuses", memory.reuses}}}};
}

DeviceObservation device_from(const json& value) {
  DeviceObservation seen;
  value.at("name").get_to(seen.name);
  value.at("description").get_to(seen.description);
  value.at("ready").get_to(seen.ready);
  value.at("reopened").get_to(seen.reopened);
  value.at("buffers").get_to(seen.buffers);
  value.at("pipelines").get_to(seen.pipelines);
  value.at("mailbox_depth").get_to(seen.mailbox_depth);
  const json& commands = value.at("commands");
  commands.at("submitted").get_to(seen.commands.commands_submitted);
  commands.at("queued").get_to(seen.commands.queued);
  commands.at("in_flight").get_to(seen.commands.in_flight);
  commands.at("completed").get_to(seen.commands.commands_completed);
  commands.at("failed").get_to(seen.commands.commands_failed);
  commands.at("cancelled").get_to(seen.commands.commands_cancelled);
  commands.at("submissions").get_to(seen.commands.submissions);
  commands.at("muted").get_to(seen.commands.muted);
  const json& memory = value.at("memory");
  memory.at("in_use").get_to(seen.memory.in_use);
  memory.at("cached").get_to(seen.memory.cached);
  memory.at("peak").get_to(seen.memory.peak);
  memory.at("budget").get_to(seen.memory.budget);
  memory.at("leases").get_to(seen.memory.leases);
  memory.at("allocations").get_to(seen.memory.allocations);
  memory.at("reuses").get_to(seen.memory.reuses);
  return seen;
}

}  // namespace

std::string to_json(const SystemObservation& seen, const ObservationRates* rates) {
  json devices = json::array();
  for (const DeviceObservation& one : seen.devices)
    devices.push_back(json_of(one, rates ? &rates->completed : nullptr));
  const json value = {
      {"pid", seen.pid},
      {"unix_ms", std::chrono::duration_cast<milliseconds>(seen.time.time_since_epoch()).count()},
      {"clock_ns", seen.at.count()},
      {"seconds", rates ? json(rates->seconds) : json{}},
      {"live_processes", seen.live_processes},
      {"tree", seen.tree ? json_of(*seen.tree, rates ? &rates->messages : nullptr) : json{}},
      {"devices", std::move(devices)}};
  // Names need not be UTF-8; JSON must be.
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<SystemObservation> observation_from_json(std::string_view text) {
  try {
    const json value = json::parse(text);
    SystemObservation seen;
    value.at("pid").get_to(seen.pid);
    seen.time = std::chrono::system_clock::time_point{
        milliseconds{value.at("unix_ms").get<std::int64_t>()}};
    seen.at = std::chrono::nanoseconds{value.at("clock_ns").get<std::int64_t>()};
    value.at("live_processes").get_to(seen.live_processes);
    if (const json& tree = value.at("tree"); !tree.is_null()) seen.tree = actor_from(tree);
    for (const json& one : value.at("devices")) seen.devices.push_back(device_from(one));
    return seen;
  } catch (const std::exception& problem) {
    return Error{"observe",
                 ErrorCode::invalid_argument,
                 "the text is no observation",
                 {{"problem", problem.what()}}};
  }
}

}  // namespace stoker
