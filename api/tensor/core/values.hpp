// Between tensors of the API and values of the graph, for the sources of api/tensor.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::detail {

/// Throws invalid_argument for a tensor without a value.
[[nodiscard]] inline std::vector<expr::Value> values_of(std::span<const Tensor> tensors) {
  std::vector<expr::Value> values;
  values.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    static_cast<void>(tensor.spec());  // throws for it
    values.push_back(tensor.value());
  }
  return values;
}

/// Without names.
[[nodiscard]] inline std::vector<Tensor> tensors_of_values(std::span<const expr::Value> values) {
  std::vector<Tensor> tensors;
  tensors.reserve(values.size());
  for (const expr::Value& value : values) tensors.emplace_back(value);
  return tensors;
}

}  // namespace stoker::detail
