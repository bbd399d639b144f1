// A table of vectors by index; indices out of range are clamped.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

struct Embedding {
  static constexpr const char* kind = "embedding";
  Required<std::int64_t> vocab_size = {};
  Required<std::int64_t> embedding_size = {};
  InitializerName kernel_initializer = initializers::uniform;
  std::string name = {};
};
template <class V> void visit_options(Embedding& o, V&& visit) {
  visit("vocab_size", o.vocab_size, at_least(1), "number of vectors");
  visit("embedding_size", o.embedding_size, at_least(1), "length of each vector");
  visit_kernel_initializer(o, visit);
}

}  // namespace layers

/// Pass both sizes here, not in `options`.
[[nodiscard]] Node embedding(const Node& x, std::int64_t vocabulary, std::int64_t size,
                             layers::Embedding options = {});

}  // namespace stoker::nn
