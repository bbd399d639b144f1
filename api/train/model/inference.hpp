// A network in inference mode, as a function of its variables and inputs.
//
//     const Inference inference{network};
//     std::vector<Tensor> scores = inference.run(variables, {x});   // traced, compiled and started
//     scores = inference.run(variables, {x});                      // started
//
// The first run with inputs and variables of some shapes and dtypes is traced and compiled, later ones are
// only started: variables are arguments, so other numbers need no other program. The programs that were
// used last are kept, as of every traced function (jit.hpp).
//
// Threads: any, also at the same time. A copy shares the programs. Errors are thrown: what
// Network::forward() and traced functions throw.
#pragma once

#include <memory>
#include <vector>

#include "stoker/api/nn/graph/network.hpp"

namespace stoker::nn {

class Inference {
 public:
  explicit Inference(Network network);

  [[nodiscard]] const Network& network() const noexcept;

  /// The outputs, not computed yet. Pure: can be traced, differentiated and mapped.
  [[nodiscard]] std::vector<Tensor> apply(const Variables& variables,
                                          const std::vector<Tensor>& inputs) const;
  /// The same, started: all tensors live on one device. Inside of jit(), grad() and vmap(), and in a
  /// HookScope, whose functions belong to this call only, as apply(). `limits` end what was started; they
  /// do not count where it becomes a part of another function.
  [[nodiscard]] std::vector<Tensor> run(const Variables& variables,
                                        const std::vector<Tensor>& inputs,
                                        const CommandOptions& limits = {}) const;

  /// How many programs are kept.
  [[nodiscard]] std::size_t programs() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stoker::nn
