// Which clusters run together although others read what lies between them: one kernel then stores it and
// goes on with it, instead of a second that reads it back.
//
//     h = x·w + b;  m = h > 0;  y = m ? h : 0        m and h are read by the way back, too
//
// Two clusters become one if one reads the other, element by element, and no way leads from the one to
// the other through anything else; that is what could not wait. What is computed inside of a reduction
// stays there, and of two clusters that finish products each keeps its own.
#pragma once

#include "stoker/pipeline/tensor/fusion/clusters.hpp"

namespace stoker::expr {

struct MergedClusters {
  Clusters clusters;
  /// The instructions in an order in which they can run, close to the program's: every one that is in
  /// no cluster, and of each cluster its last.
  std::vector<std::uint32_t> order;
};

/// Time: for each pair that is looked at, as many instructions as lie between them, within a bound.
[[nodiscard]] MergedClusters merge_clusters(const Program& program, Clusters clusters);

}  // namespace stoker::expr
