// Taking an observation (observation.hpp) of a system. Programs use System::observe().
//
// Threads: any. Lifetime: what is looked at is held while it is looked at, and the system is not.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/api/observe/observation.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {

class SupervisedDevice;

/// What is looked at. Holding it keeps the supervisors reachable, not the system alive.
struct Observed {
  std::shared_ptr<Executor> executor;
  Supervisor root;  ///< may be null
  std::vector<std::shared_ptr<SupervisedDevice>> devices;
};

/// How long the supervisors of one level of the tree have to answer.
constexpr std::chrono::nanoseconds observation_patience = std::chrono::seconds{1};

/// Parks a process and blocks a plain thread until the supervisors have answered, at most `patience`
/// for each level of the tree. May run anywhere, also where the executor does not run at all.
[[nodiscard]] SystemObservation observe_now(
    const Observed& what, std::chrono::nanoseconds patience = observation_patience);
/// The same in a process on the system's executor. Errors: closed if the executor goes first.
[[nodiscard]] Future<SystemObservation> observe_later(Observed what);

}  // namespace stoker
