// Backward rules of the program's own, and functions that are computed again for their gradient.
//
//     inputs ──▶ f, as any other operations ──▶ outputs ─┐
//        └──────────────────────────────────────────────┴─▶ custom_gradient ──▶ the outputs
//
// The operation hands the outputs through; it only says where their gradients go: to the inputs, by the
// rule, and not into f. Before a program is lowered the pass inline_custom_gradients() drops it, so f is
// fused with what is around it.
//
// Threads: any; a rule is called by whoever differentiates, on any thread, also at the same time.
#pragma once

#include <functional>
#include <vector>

#include "stoker/pipeline/tensor/graph/function.hpp"

namespace stoker::expr {

/// One gradient for each input, out of the inputs, the outputs and the gradients by these (zeros for an
/// output that nothing depends on). An empty one is zero. The rule is asked again for each derivative, so
/// what it makes has to be made of what it is given.
using BackwardRule =
    std::function<Values(std::span<const Value> inputs, std::span<const Value> outputs,
                         std::span<const Value> gradients)>;

/// The outputs, whose gradients go to the inputs by the rule.
[[nodiscard]] std::vector<Value> custom_gradient(std::span<const Value> inputs,
                                                 std::span<const Value> outputs, BackwardRule rule);

/// The results of the function. Their gradient computes the function once more, from its arguments, and
/// not before it is their turn, so that nothing inside of it has to be kept. What the function stands on
/// beside its parameters is kept and gets its gradients, too; `begin` is a serial number from before the
/// function was traced.
///
/// Griewank, Walther, "Algorithm 799: revolve", 2000; Chen, Xu, Zhang, Guestrin, arXiv:1604.06174.
[[nodiscard]] std::vector<Value> checkpoint(const Function& function,
                                            std::span<const Value> arguments, std::uint64_t begin);

/// The same elements, to be computed when the others are there: passes do not see through, so that what
/// is computed of it is not taken for what is computed of `x`.
[[nodiscard]] Value computed_after(const Value& x, std::span<const Value> after);

}  // namespace stoker::expr
