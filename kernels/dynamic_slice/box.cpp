#include "stoker/kernels/dynamic_slice/box.hpp"

#include <algorithm>

#include "stoker/kernels/indexing/indices.hpp"

namespace stoker::kernels::dynamic_slice {

std::vector<BoxAxis> box_axes(const Shape& tensor, std::span<const std::int64_t> lengths,
                              std::span<const std::int64_t> steps) {
  std::vector<BoxAxis> axes;  // innermost first
  for (std::size_t i = tensor.rank(); i-- > 0;) {
    if (tensor[i] == 1) continue;
    BoxAxis own{i, tensor[i], lengths[i], 1, steps[i]};
    if (!axes.empty() && own.step == 1) {
      const BoxAxis inside = axes.back();
      if (inside.step == 1 && inside.length == inside.extent) {
        own.extent *= inside.extent;
        own.length *= inside.extent;
        own.scale = inside.extent;
        axes.pop_back();
      }
    }
    axes.push_back(own);
  }
  if (axes.empty()) axes.emplace_back();
  std::ranges::reverse(axes);
  return axes;
}

std::vector<std::int64_t> steps_of(const DynamicSlice& given, std::size_t rank) {
  const std::vector<std::int64_t>& strides = given.strides.list();
  return strides.empty() ? std::vector<std::int64_t>(rank, 1) : strides;
}

Result<void> check_starts(std::string_view op, const Shape& tensor, const TensorSpec& starts) {
  STOKER_TRY(indexing::check_indices(op, "starts", starts));
  if (starts.shape == Shape{static_cast<std::int64_t>(tensor.rank())}) return {};
  return Error{std::string{op},
               ErrorCode::shape_mismatch,
               "starts is " + starts.shape.to_string() + ", expected one entry for each of " +
                   std::to_string(tensor.rank()) + " axes",
               {{"input", tensor.to_string()}, {"starts", starts.shape.to_string()}}};
}

}  // namespace stoker::kernels::dynamic_slice
