// A network in inference mode, as a function of its variables and inputs.
//
//     const Inference inference{network};
//     std::vector<Tensor> scores = inference.run(variables, {x});   // traced, compiled and started
//     scores = inference.run(variables, {x});                      // started
//
// The first run with inputs and variables of certain shapes and dtypes is traced and compiled;
// later ones are only started. Variables are arguments, so new values need no new program. The most
// recently used programs are cached, as for every traced function (jit.hpp).
//
// Threads: any, concurrently. A copy shares the programs. Errors are thrown: those of
// Network::forward() and of traced functions.
#pragma once

#include <memory>
#include <vector>

#include "stoker/api/nn/graph/network.hpp"

namespace stoker::nn {

class Inference {
 public:
  explicit Inference(Network network);

  [[nodiscard]] const Network& network() const noexcept;

  /// The outputs, not computed yet. Pure: can be traced, differentiated and vectorized.
  [[nodiscard]] std::vector<Tensor> apply(const Variables& variables,
                                          const std::vector<Tensor>& inputs) const;
  /// The same as one compiled program, started; all tensors must be on one device. Inside jit(),
  /// grad(), vmap() or a HookScope it acts like apply(), and `limits` do not apply; otherwise they
  /// limit the run.
  [[nodiscard]] std::vector<Tensor> run(const Variables& variables,
                                        const std::vector<Tensor>& inputs,
                                        const CommandOptions& limits = {}) const;

  /// The number of cached programs.
  [[nodiscard]] std::size_t programs() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stoker::nn
