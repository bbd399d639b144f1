// Which products and convolutions hand their elements to a cluster instead of storing them: those that nothing but that
// cluster reads, in their order. A cluster takes one, the last of the program: relu(x·w + b), or of
// x·w + h·u + b the second.
//
// What stands before a product is not computed by it: its operands are read many times, and would be
// computed as often.
#pragma once

#include <map>

#include "stoker/pipeline/tensor/fusion/clusters.hpp"

namespace stoker::expr {

struct ProductFusion {
  Ref product;
  Ref read;  ///< as the cluster reads it: the product, or another shape of it
};

/// By the clusters' positions. Every product is in one of them at most.
[[nodiscard]] std::map<std::uint32_t, ProductFusion> find_fused_products(const Program& program,
                                                                         const Clusters& clusters);

}  // namespace stoker::expr
