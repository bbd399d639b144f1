// Asking for branches and loops. Functions are open: what they stand on beside their parameters becomes
// inputs of the operation (function.hpp); `begin` is a serial number from before they were traced.
//
// Threads: any. Shapes and dtypes have been checked by the caller, see each function.
#pragma once

#include "stoker/pipeline/tensor/graph/function.hpp"

namespace stoker::expr {

/// The results of `yes` where `condition`, a u8 scalar, is not 0, else of `no`: only one of them is
/// computed. Neither has parameters; both have results of the same specs.
[[nodiscard]] std::vector<Value> cond(const Value& condition, const Function& yes,
                                      const Function& no, std::uint64_t begin);

/// The states when `condition` of them, a u8 scalar, is 0 for the first time, or after `most` rounds if
/// that is not 0. Differentiable if it is not 0. `body` gives states of the same specs.
[[nodiscard]] std::vector<Value> while_loop(std::span<const Value> states,
                                            const Function& condition, const Function& body,
                                            std::int64_t most, std::uint64_t begin);

/// `length` rounds of `body`, which takes the position (s32 scalar), the carries and an element of each
/// sequence [length, …], and gives the next carries and elements of results. The last carries and the
/// results [length, …].
[[nodiscard]] std::vector<Value> scan(std::span<const Value> carries,
                                      std::span<const Value> sequences, const Function& body,
                                      std::int64_t length, bool reverse, std::uint64_t begin);

}  // namespace stoker::expr
