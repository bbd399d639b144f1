// Lua scripts in a program (component Stoker::script); see pipeline/script/run/script_host.hpp and
// docs/scripts.md.
//
//     stoker::ScriptHost host = stoker::script_host(system, device);
//     stoker::ScriptRun run = host.start({"demo", "print(relu(buffer{-1, 2}))"}, {});
//     run.done.get();
#pragma once

#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/api/system.hpp"
#include "stoker/pipeline/script/run/script_host.hpp"

namespace stoker {

/// A host for scripts on that device, with the system's kernels. The system must outlive it. Its
/// destructor cancels its scripts and waits for them, so do not destroy it on a thread that they
/// need.
[[nodiscard]] inline ScriptHost script_host(const System& system, const Device& device) {
  return {device.client(), system.executor(), system.kernels(), system.supervisor()};
}

/// Lets scripts define kernels in GLSL; see docs/scripts.md ("Kernels of one's own"). Any number of
/// scripts may share one extension, also at the same time; equal definitions are then one kernel.
/// Use it only for trusted scripts: see ScriptOptions::kernels.
///
///     options.kernels = stoker::script_kernels();
[[nodiscard]] std::shared_ptr<ScriptExtension> script_kernels();

}  // namespace stoker
