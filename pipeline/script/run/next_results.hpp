// Which values an evaluation leaves in buffers.
//
// What is asked for, of course. Beside it, what an earlier evaluation computed and dropped and what others
// than its own chain read now: an intermediate value that is needed again is kept from then on. And what lies
// too deep for one program: programs are cut where they get too large.
//
// Threads: the script's process only.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::script {

/// The results of the next program on the way to making `wanted` known, which computes about `most` nodes at
/// most. None: they are known.
[[nodiscard]] std::vector<std::shared_ptr<expr::Node>> next_results(
    std::span<const expr::Value> wanted, std::size_t most);

}  // namespace stoker::script
