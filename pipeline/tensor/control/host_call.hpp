// Asking for calls of the program's own functions, with values that are known by then.
//
// Threads: any. The functions are called on the device's executor, one call at a time for each operation
// that runs, and may be called by several runs at once. Those of host_call() are processes with a stack of 1 MiB: they
// may wait for values.
#pragma once

#include <functional>

#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::expr {

/// `x`, which `look` is shown when it is known. What `look` throws is logged.
[[nodiscard]] Value hook(const Value& x, std::function<void(const Value&)> look);

/// What `function` makes of the inputs when they are known: values of the specs, evaluated there and
/// then. What it throws, or another spec, fails whoever uses the results.
using HostFunction = std::function<std::vector<Value>(std::span<const Value>)>;
[[nodiscard]] std::vector<Value> host_call(std::span<const TensorSpec> specs, HostFunction function,
                                           std::span<const Value> inputs);

}  // namespace stoker::expr
