#include "stoker/api/tensor/views/batches.hpp"

#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker {

std::vector<Tensor> to_batched(const Tensor& tensor, std::int64_t n, Leftover leftover) {
  if (tensor.rank() == 0)
    throw Error{"to_batched", ErrorCode::shape_mismatch, "a scalar has no axis to cut"};
  const std::int64_t extent = tensor.shape()[0];
  if (n < 1 || n > extent)
    throw Error{"to_batched",
                ErrorCode::invalid_parameter,
                "a part holds 1 or more, and no more than there are",
                {{"n", std::to_string(n)}, {"extent", std::to_string(extent)}}};
  std::vector<Tensor> parts;
  for (std::int64_t begin = 0; begin + n <= extent; begin += n)
    parts.push_back(slice_along_axis(tensor, begin, n));
  const std::int64_t rest = extent % n;
  if (rest > 0 && leftover == Leftover::repeat)
    parts.push_back(concatenate(
        {slice_along_axis(tensor, extent - rest, rest), slice_along_axis(tensor, 0, n - rest)}));
  return parts;
}

}  // namespace stoker
