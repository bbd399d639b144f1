// The evaluations of a script that are under way.
//
// Threads: the script's process only.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "stoker/device/commands/command_state.hpp"
#include "stoker/pipeline/script/lua/failures.hpp"
#include "stoker/pipeline/script/run/script_host.hpp"

namespace stoker {
class CompiledPipeline;
}  // namespace stoker

namespace stoker::script {

/// One run of a program.
struct Flight {
  /// A run of one of its pipelines, or what follows the host's work.
  struct Part {
    CommandPtr command;
    std::shared_ptr<CompiledPipeline> pipeline;  ///< null: the host's work
    std::vector<ScriptCommand> calls;            ///< by stage of the pipeline's graph
  };
  std::vector<Part> parts;
  std::size_t bytes = 0;  ///< device memory that it writes

  [[nodiscard]] bool ended() const noexcept;
};

class Flights {
 public:
  /// How many there may be, and from the third on the device memory that they may hold: a script
  /// that waits for nothing does not outrun its device.
  static constexpr std::size_t most = 64;
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  /// The observer may be null.
  explicit Flights(ScriptObserver* observer) : observer_{observer} {}

  void add(Flight flight);
  [[nodiscard]] bool empty() const noexcept { return flights_.empty(); }
  /// The first that has not ended of the oldest flight's commands; null if all have.
  [[nodiscard]] CommandPtr oldest() const noexcept;
  /// Whether one more that holds `bytes` must wait until the oldest has ended.
  [[nodiscard]] bool full(std::size_t bytes) const noexcept;
  /// Lets go of those that have ended, oldest first, and adds what failed.
  void settle(Failures& failures);
  /// Cancels all.
  void cancel(DeviceClient& device, const Error& why);

 private:
  void report(Flight::Part& part) const;

  ScriptObserver* const observer_;
  std::deque<Flight> flights_;  // oldest first
  std::size_t bytes_ = 0;       // of all of them
};

}  // namespace stoker::script
