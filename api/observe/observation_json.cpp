// Observations as JSON and back.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "stoker/api/observe/observation.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker {
namespace {

using nlohmann::json;
using State = ActorObservation::State;
using std::chrono::milliseconds;

constexpr std::array state_names{"running", "restarting", "stopped"};
constexpr std::array kind_names{"worker", "supervisor"};

/// Levels of lists and objects; a supervisor takes two.
constexpr int deepest = 1024;

template <class Enum, std::size_t N>
Enum named(const std::array<const char*, N>& names, const json& value) {
  const auto at = std::ranges::find(names, value.get<std::string_view>(),
                                    [](const char* name) { return std::string_view{name}; });
  if (at == names.end()) throw std::invalid_argument{"no such name: " + write_json(value)};
  return static_cast<Enum>(at - names.begin());
}

/// Not get_to(), which takes -1 and 1e300 for whole numbers.
template <class T> void whole(const json& value, T& into) {
  const auto refuse = [&] { throw std::invalid_argument{"no whole number: " + write_json(value)}; };
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (!std::in_range<T>(number)) refuse();
    into = static_cast<T>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (!std::in_range<T>(number)) refuse();
    into = static_cast<T>(number);
  } else {
    refuse();
  }
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
  whole(value.at("actor"), seen.actor);
  value.at("name").get_to(seen.name);
  value.at("class").get_to(seen.type);
  seen.kind = named<ChildKind>(kind_names, value.at("kind"));
  seen.state = named<State>(state_names, value.at("state"));
  whole(value.at("restarts"), seen.restarts);
  whole(value.at("mailbox_depth"), seen.mailbox_depth);
  whole(value.at("mailbox_capacity"), seen.mailbox_capacity);
  whole(value.at("messages"), seen.delivered);
  if (const json& why = value.at("no_answer"); !why.is_null()) why.get_to(seen.no_answer);
  for (const json& child : value.at("children")) seen.children.push_back(actor_from(child));
  return seen;
}

json json_of(const DeviceObservation& seen, const std::map<std::string, double>* rates) {
  const SchedulerStats& commands = seen.commands;
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
            {"quarantined", commands.quarantined}}},
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
  whole(value.at("reopened"), seen.reopened);
  whole(value.at("buffers"), seen.buffers);
  whole(value.at("pipelines"), seen.pipelines);
  whole(value.at("mailbox_depth"), seen.mailbox_depth);
  const json& commands = value.at("commands");
  whole(commands.at("submitted"), seen.commands.commands_submitted);
  whole(commands.at("queued"), seen.commands.queued);
  whole(commands.at("in_flight"), seen.commands.in_flight);
  whole(commands.at("completed"), seen.commands.commands_completed);
  whole(commands.at("failed"), seen.commands.commands_failed);
  whole(commands.at("cancelled"), seen.commands.commands_cancelled);
  whole(commands.at("submissions"), seen.commands.submissions);
  whole(commands.at("quarantined"), seen.commands.quarantined);
  const json& memory = value.at("memory");
  whole(memory.at("in_use"), seen.memory.in_use);
  whole(memory.at("cached"), seen.memory.cached);
  whole(memory.at("peak"), seen.memory.peak);
  whole(memory.at("budget"), seen.memory.budget);
  whole(memory.at("leases"), seen.memory.leases);
  whole(memory.at("allocations"), seen.memory.allocations);
  whole(memory.at("reuses"), seen.memory.reuses);
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
  return write_json(value, BadUtf8::replace);
}

SystemObservation observation_from_json(std::string_view text) {
  return try_observation_from_json(text).value();
}

Result<SystemObservation> try_observation_from_json(std::string_view text) {
  try {
    const json value = parse_json(text, deepest);
    SystemObservation seen;
    whole(value.at("pid"), seen.pid);
    std::int64_t unix_ms = 0;
    std::int64_t clock_ns = 0;
    whole(value.at("unix_ms"), unix_ms);
    whole(value.at("clock_ns"), clock_ns);
    using Times = std::chrono::system_clock::duration;
    constexpr auto most = std::chrono::duration_cast<milliseconds>(Times::max()).count();
    if (unix_ms < -most || unix_ms > most)
      throw std::invalid_argument{"no time of day: " + std::to_string(unix_ms)};
    seen.time = std::chrono::system_clock::time_point{milliseconds{unix_ms}};
    seen.at = std::chrono::nanoseconds{clock_ns};
    whole(value.at("live_processes"), seen.live_processes);
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
