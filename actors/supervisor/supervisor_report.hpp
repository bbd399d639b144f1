// What a supervisor has to say, to its owner and to the log.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/actors/actor_cell.hpp"
#include "stoker/actors/exit_reason.hpp"

namespace stoker {

/// One event. A child's end is told once, in a report of its own.
struct SupervisorReport {
  enum class Event : std::uint8_t {
    child_terminated,  ///< ended as it should not
    start_error,       ///< a start or restart failed
    shutdown_error,    ///< did not end as it was told to
    left_behind,       ///< did not end although it was killed
    gave_up,           ///< too many restarts: the supervisor ends
  };
  /// How many reasons `chain` has, and how many bytes a text may have in it and in the log.
  static constexpr std::size_t chain_length = 8;
  static constexpr std::size_t chain_bytes = 200;
  static constexpr std::size_t reason_bytes = 1000;

  Event event;
  std::string supervisor;
  std::string child;
  ActorId actor = 0;
  ExitReason reason;
  std::size_t restarts = 0;  ///< within the period
  /// Of gave_up: why the children ended that were restarted last, oldest first: "id: reason".
  std::vector<std::string> chain;
};
[[nodiscard]] std::string_view to_string(SupervisorReport::Event event) noexcept;

/// As one line of the log, of bounded length.
void log_report(const SupervisorReport& said);

}  // namespace stoker
