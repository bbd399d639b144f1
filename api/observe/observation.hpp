// A snapshot of a running system: its supervision tree, its devices and its queues.
//
//     SystemObservation seen = system.observe().get();
//     std::cout << to_text(seen);
//
// An observation is taken while the system runs: its numbers are from slightly different moments,
// and each query to a supervisor counts as a message. A supervisor that does not answer in time is
// shown with the reason and without its children.
//
// Threads: plain values. Lifetime: an observation keeps nothing of the system alive.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/actors/actor_id.hpp"
#include "stoker/actors/supervisor/child_kind.hpp"
#include "stoker/device/stats.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker {

/// One child of a supervisor, or the root supervisor.
struct ActorObservation {
  using State = ChildState;

  std::string id;     ///< its id in its supervisor
  ActorId actor = 0;  ///< 0 unless it runs
  std::string name;   ///< its name at spawn; empty, like all below, unless it runs
  std::string type;   ///< its class
  ChildKind kind = ChildKind::worker;
  State state = State::stopped;
  std::uint64_t restarts = 0;
  // Of its strand, which other actors may share.
  std::uint32_t mailbox_depth = 0;  ///< messages waiting
  std::uint32_t mailbox_capacity = 0;
  std::uint64_t delivered = 0;  ///< messages in total
  /// Why a supervisor did not list its children; empty if it did, and for workers.
  std::string no_answer;
  std::vector<ActorObservation> children;
};

/// One device that the system has opened; after a loss, the device as last reopened.
struct DeviceObservation {
  std::string name;
  std::string description;
  bool ready = false;               ///< not lost
  std::uint64_t reopened = 0;       ///< how often it was lost and came back
  std::uint64_t buffers = 0;        ///< with a live handle
  std::uint64_t pipelines = 0;      ///< with a live handle
  std::uint32_t mailbox_depth = 0;  ///< of its actor
  SchedulerStats commands;
  MemoryStats memory;
};

struct SystemObservation {
  std::chrono::system_clock::time_point time;  ///< of day
  std::chrono::nanoseconds at{};               ///< of the system's clock, for rates()
  std::uint64_t pid = 0;
  std::uint64_t live_processes = 0;      ///< on the system's executor, supervisors included
  std::optional<ActorObservation> tree;  ///< nullopt while nothing is supervised
  std::vector<DeviceObservation> devices;
};

/// Rates per second between two observations of one system.
struct ObservationRates {
  double seconds = 0;                       ///< between the two
  std::map<ActorId, double> messages;       ///< by actor in the later observation
  std::map<std::string, double> completed;  ///< commands, by device name
};
/// Counters that are new or were reset count from 0. Returns no rates if no time has passed.
[[nodiscard]] ObservationRates rates(const SystemObservation& before,
                                     const SystemObservation& after);

/// Text for people: the indented tree in aligned columns, then each device. UTF-8, without colours.
[[nodiscard]] std::string to_text(const SystemObservation& seen,
                                  const ObservationRates* rates = nullptr);
/// One JSON object in one line; docs/command.md describes it. Without rates those fields are null.
[[nodiscard]] std::string to_json(const SystemObservation& seen,
                                  const ObservationRates* rates = nullptr);
/// Parses the output of to_json(), ignoring the rates. Throws invalid_argument.
[[nodiscard]] SystemObservation observation_from_json(std::string_view text);
/// The same with the failure as a value.
[[nodiscard]] Result<SystemObservation> try_observation_from_json(std::string_view text);

/// "1.5 GiB".
[[nodiscard]] std::string readable_bytes(std::uint64_t bytes);

}  // namespace stoker
