// How many nodes may be made: a bound for graphs that others describe, in a file or a script.
//
//     const NodeQuota quota{1000};
//     …  // the 1001st operation throws budget_exceeded
//
// Threads: those of a scope (context_scope.hpp). The innermost quota counts.
#pragma once

#include <cstddef>

#include "stoker/runtime/process/context_scope.hpp"

namespace stoker::expr {

class NodeQuota : private ContextScope {
 public:
  explicit NodeQuota(std::size_t most) noexcept;
  /// Takes one for a node that is about to be made; nothing outside of a quota. Throws budget_exceeded.
  static void take();

 private:
  mutable std::size_t left_;
};

}  // namespace stoker::expr
