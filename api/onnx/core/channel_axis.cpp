#include "stoker/api/onnx/core/channel_axis.hpp"

#include <algorithm>
#include <numeric>

#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx {
namespace {

Axes counted(std::size_t rank) {
  Axes order(rank);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

}  // namespace

Tensor channels_first(const Tensor& x) {
  if (x.rank() < 3) return x;
  Axes order = counted(x.rank());
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return transpose(x, order);
}

Tensor channels_last(const Tensor& x) {
  if (x.rank() < 3) return x;
  Axes order = counted(x.rank());
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return transpose(x, order);
}

}  // namespace stoker::onnx
