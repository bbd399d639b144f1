// What a running system looks like from outside: its supervision tree, its devices, and what waits
// where.
//
//     SystemObservation seen = system.observe().get();
//     std::cout << to_text(seen);
//
// An observation is taken while everything goes on: its numbers are of slightly different moments, and
// asking a supervisor is itself a message that counts. A supervisor that does not answer in time is
// shown with the reason, without its children; nothing waits for it any longer.
//
// Threads: values. Lifetime: an observation holds nothing of the system it shows.
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

/// One child of a supervisor, or the supervisor at the top.
struct ActorObservation {
  using State = ChildState;

  std::string id;     ///< what its supervisor calls it
  ActorId actor = 0;  ///< 0 unless it runs
  std::string name;   ///< what it was spawned with; it and what follows are empty unless it runs
  std::string type;   ///< its class
  ChildKind kind = ChildKind::worker;
  State state = State::stopped;
  std::uint64_t restarts = 0;
  // Of its strand, which other actors may share.
  std::uint32_t mailbox_depth = 0;  ///< messages waiting
  std::uint32_t mailbox_capacity = 0;
  std::uint64_t delivered = 0;  ///< messages in all
  /// Why a supervisor did not say which children it has; empty if it did, and for workers.
  std::string no_answer;
  std::vector<ActorObservation> children;
};

/// One device that the system has opened, as it was opened last.
struct DeviceObservation {
  std::string name;
  std::string description;
  bool ready = false;               ///< not lost
  std::uint64_t reopened = 0;       ///< how often it was lost and came back
  std::uint64_t buffers = 0;        ///< that somebody can still reach
  std::uint64_t pipelines = 0;      ///< as many
  std::uint32_t mailbox_depth = 0;  ///< of its actor
  SchedulerStats commands;
  MemoryStats memory;
};

struct SystemObservation {
  std::chrono::system_clock::time_point time;  ///< of day
  std::chrono::nanoseconds at{};               ///< of the system's clock, for rates()
  std::uint64_t pid = 0;
  std::uint64_t live_processes = 0;      ///< on the system's executor, supervisors included
  std::optional<ActorObservation> tree;  ///< nothing while nothing is supervised
  std::vector<DeviceObservation> devices;
};

/// What happened between two observations of one system, per second.
struct ObservationRates {
  double seconds = 0;                       ///< between the two
  std::map<ActorId, double> messages;       ///< of each actor that the later one shows
  std::map<std::string, double> completed;  ///< commands of each device
};
/// What was not there before, or has begun anew, counts from nothing. No rates if no time passed.
[[nodiscard]] ObservationRates rates(const SystemObservation& before,
                                     const SystemObservation& after);

/// For a person: the tree, indented, in aligned columns, then each device. UTF-8, without colours.
[[nodiscard]] std::string to_text(const SystemObservation& seen,
                                  const ObservationRates* rates = nullptr);
/// One JSON object in one line; docs/command.md describes it. Without rates those fields are null.
[[nodiscard]] std::string to_json(const SystemObservation& seen,
                                  const ObservationRates* rates = nullptr);
/// What to_json() wrote, without its rates. Errors: invalid_argument.
[[nodiscard]] Result<SystemObservation> observation_from_json(std::string_view text);

/// "1.5 GiB".
[[nodiscard]] std::string readable_bytes(std::uint64_t bytes);

}  // namespace stoker
