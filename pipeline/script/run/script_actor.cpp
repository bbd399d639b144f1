#include "stoker/pipeline/script/run/script_actor.hpp"

namespace stoker {

ChildSpec script_children() {
  ChildSpec spec;
  spec.id = "script";
  spec.restart = Restart::temporary;
  spec.start = [](const ChildStart& start) -> Result<ActorAddress> {
    const auto& script = start.argument<RunningScript>();
    const auto actor = start.spawn<ScriptActor>({.name = script.name}, script.run.stop);
    static_cast<void>(script.run.done.then(
        *start.executor(), [actor, executor = start.executor()](const Result<ScriptReport>& done) {
          static_cast<void>(actor.cast(ScriptEnded{
              done ? ExitReason::normal() : ExitReason::shutdown(done.error().what())}));
        }));
    return ActorAddress{actor};
  };
  return spec;
}

}  // namespace stoker
