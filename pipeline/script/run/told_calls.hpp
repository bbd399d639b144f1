// What the observer of a script is told of a run: for each kernel the calls whose work it does.
//
// Threads: the script's process only.
#pragma once

#include <vector>

#include "stoker/pipeline/script/run/script_host.hpp"
#include "stoker/pipeline/tensor/lowering/lowering.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"

namespace stoker::script {

/// By stage of the step's graph; one if the host drives it. Of a kernel that does the work of several calls, the
/// names of the first and the line of the last, whose value it is that the script sees.
[[nodiscard]] std::vector<ScriptCommand> told_calls(const expr::Extracted& extracted,
                                                    const expr::LoweredProgram& program,
                                                    const expr::LoweredProgram::Step& step);

}  // namespace stoker::script
