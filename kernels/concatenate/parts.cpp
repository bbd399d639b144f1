#include "stoker/kernels/concatenate/parts.hpp"

#include "stoker/kernels/concatenate/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::concatenate {

Parts parts(const KernelCall& call, std::size_t axis) {
  const Shape& first = call.shape();
  Parts result;
  std::size_t inner = size_of(call.dtype());
  for (std::size_t i = 0; i < axis; ++i) result.rows *= static_cast<std::size_t>(first[i]);
  for (std::size_t i = axis + 1; i < first.rank(); ++i) inner *= static_cast<std::size_t>(first[i]);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::size_t bytes = static_cast<std::size_t>(call.shape(i)[axis]) * inner;
    if (bytes > 0) result.parts.push_back({i, bytes, result.row_bytes});
    result.row_bytes += bytes;
  }
  return result;
}

Result<std::size_t> joined_axis(const KernelCall& call) {
  return rules::axis("concatenate", "axis", options::from<Concatenate>(call.params).axis,
                     call.shape().rank());
}

}  // namespace stoker::kernels::concatenate
