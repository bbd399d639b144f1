// Layers that normalize channels to mean 0 and variance 1 while training, keep running statistics,
// and normalize by these at inference.
//
//     batch_norm     statistics of a channel are those of the whole batch
//     instance_norm each row has its own statistics; the running ones are their mean over the batch
//
// `momentum` is the share of the old statistics that is kept, as in Axon:
//
//     running = momentum·old + (1 − momentum)·new
//
// running=false normalizes by the current input's statistics at inference too, like ONNX'
// InstanceNormalization.
//
// Ioffe and Szegedy, arXiv:1502.03167; Ulyanov et al., arXiv:1607.08022.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/channel_statistics.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

template <KindName Kind> struct RunningNormOf {
  static constexpr const char* kind = Kind.text;
  InitializerName gamma_initializer = initializers::ones;
  InitializerName beta_initializer = initializers::zeros;
  double epsilon = 1e-5;
  std::int64_t channel_index = -1;
  double momentum = 0.1;
  bool running = true;
  std::string name = {};
};
template <KindName Kind, class V> void visit_options(RunningNormOf<Kind>& o, V&& visit) {
  visit_normalization(o, visit);
  visit("momentum", o.momentum, within(0, 1),
        "the share of the running statistics that stays after each batch");
  visit("running", o.running, anything, "keeps running statistics, for inference");
}
using BatchNorm = RunningNormOf<"batch_norm">;
using InstanceNorm = RunningNormOf<"instance_norm">;

}  // namespace layers

[[nodiscard]] Node batch_norm(const Node& x, const layers::BatchNorm& options = {});

}  // namespace stoker::nn
