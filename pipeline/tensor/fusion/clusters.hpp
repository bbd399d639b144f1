// Which functions of single elements run together as one kernel.
//
// A function joins those that read it if they all are of one cluster and have its shape: then every way
// from it leads through that cluster, so no kernel in between can need what the cluster has not
// finished. What is also a result becomes one more output.
#pragma once

#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {

/// What the kernel of a cluster may bind: a thread of a GPU has an element of each in registers, or four.
inline constexpr std::size_t most_cluster_buffers = 32;

struct Cluster {
  Shape shape;
  std::vector<std::uint32_t>
      members;  ///< in the order of the program; the last one's is read outside
  std::vector<std::uint32_t> outputs;  ///< members that are read outside or are results
};

struct Clusters {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<Cluster> all;
  std::vector<std::uint32_t> of;  ///< of each instruction: its cluster, or none
};

/// Whether reading an instruction's result takes a buffer: a constant and a position do not.
[[nodiscard]] bool takes_buffer(const Program& program, std::uint32_t instruction);

[[nodiscard]] Clusters find_clusters(const Program& program);

}  // namespace stoker::expr
