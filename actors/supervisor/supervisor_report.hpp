// A supervisor's reports, to its owner and to the log.
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

/// One event. Each child's end is reported exactly once.
struct SupervisorReport {
  enum class Event : std::uint8_t {
    child_terminated,  ///< ended unexpectedly
    start_error,       ///< a start or restart failed
    shutdown_error,    ///< did not end as requested
    left_behind,       ///< was killed, but did not end
    gave_up,           ///< too many restarts: the supervisor ends
  };
  /// The maximum number of reasons in `chain`, and of bytes of each text there and in the log.
  static constexpr std::size_t chain_length = 8;
  static constexpr std::size_t chain_bytes = 200;
  static constexpr std::size_t reason_bytes = 1000;

  Event event;
  std::string supervisor;
  std::string child;
  ActorId actor = 0;
  ExitReason reason;
  std::size_t restarts = 0;  ///< within the period
  /// For gave_up: the reasons of the last restarts, oldest first: "id: reason".
  std::vector<std::string> chain;
};
[[nodiscard]] std::string_view to_string(SupervisorReport::Event event) noexcept;

/// As one line of the log, of bounded length.
void log_report(const SupervisorReport& said);

}  // namespace stoker
