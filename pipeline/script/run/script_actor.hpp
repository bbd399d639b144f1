// A running script in its system's tree: it can be seen there, watched, linked to and ended like any
// actor. Ending it cancels the script. When the script ends, it ends normally or, if the script failed,
// with {shutdown, why}: who started the script is told of the failure by `done`, so that it is no crash
// which the supervisor would have to report once more.
//
// Threads: see actor.hpp. Lifetime: a temporary child of the system's supervisor of scripts.
#pragma once

#include <string>
#include <utility>

#include "stoker/actors/supervisor/child_spec.hpp"
#include "stoker/pipeline/script/run/script_host.hpp"

namespace stoker {

struct ScriptEnded {
  ExitReason why;
};

class ScriptActor final : public Actor {
 public:
  explicit ScriptActor(CancelSource stop) : stop_{std::move(stop)} {}
  void on(ScriptEnded ended) { leave(std::move(ended.why)); }
  void terminate(const ExitReason& why) override {
    stop_.cancel(Error{
        "script", ErrorCode::cancelled, "its actor was ended", {{"reason", why.to_string()}}});
  }

 private:
  CancelSource stop_;
};

/// What the supervisor of scripts is asked to start: a script that runs.
struct RunningScript {
  std::string name;
  ScriptRun run;
};

/// The specification of its children, for simple_one_for_one: start_child(RunningScript{…}).
[[nodiscard]] ChildSpec script_children();

}  // namespace stoker
