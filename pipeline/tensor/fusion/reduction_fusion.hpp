// Which reductions compute what they reduce, instead of reading it: those that alone read the one
// output of a cluster, or something that lies in no memory as it is (a view, a number that repeats).
//
// A reshape between the two changes nothing: it keeps the elements in their order.
#pragma once

#include <map>

#include "stoker/kernels/fused/reduction.hpp"
#include "stoker/pipeline/tensor/fusion/clusters.hpp"

namespace stoker::expr {

struct ReductionFusion {
  /// The values, before reshapes: what a cluster computes, or what is read through its access.
  Ref values;
  std::uint32_t cluster = Clusters::none;
  FusedReduction reduction;
};

/// By the instructions of the reductions. Every cluster is in one of them at most, and then nobody
/// else needs it.
[[nodiscard]] std::map<std::uint32_t, ReductionFusion> find_fused_reductions(
    const Program& program, const Clusters& clusters);

}  // namespace stoker::expr
