#include "stoker/api/tensor/transforms/vmap.hpp"

#include <algorithm>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::detail {
namespace {

/// The first axis at `to`.
expr::Value moved_from_front(const expr::Value& x, std::size_t to) {
  std::vector<std::int64_t> order = expr::all_axes(x.shape().rank());
  std::rotate(order.begin(), order.begin() + 1,
              order.begin() + static_cast<std::ptrdiff_t>(to) + 1);
  return expr::transpose(x, order);
}

}  // namespace

ElementCall element_call(std::span<const Tensor> tensors, std::span<const std::size_t> counts,
                         const VmapAxes& axes) {
  if (!axes.in_axes.empty() && axes.in_axes.size() != counts.size())
    throw Error{"vmap",
                ErrorCode::arity_mismatch,
                "in_axes has " + std::to_string(axes.in_axes.size()) + " entries for " +
                    std::to_string(counts.size()) + " arguments",
                {{"expected", std::to_string(counts.size())},
                 {"got", std::to_string(axes.in_axes.size())}}};
  ElementCall call;
  call.mark = expr::Node::next_serial();
  std::optional<std::int64_t> size;
  std::size_t next = 0;
  for (std::size_t argument = 0; argument < counts.size(); ++argument)
    for (std::size_t i = 0; i < counts[argument]; ++i) {
      const Tensor& tensor = tensors[next++];
      const auto axis =
          axes.in_axes.empty() ? std::optional<std::int64_t>{0} : axes.in_axes[argument];
      if (!axis) {
        call.arguments.push_back(tensor);
        continue;
      }
      const std::size_t which = checked_axis("vmap", *axis, tensor.rank());
      const std::int64_t extent = tensor.shape()[which];
      if (size && *size != extent)
        throw Error{"vmap",
                    ErrorCode::shape_mismatch,
                    "the arguments have different numbers of elements: " + std::to_string(*size) +
                        " and " + std::to_string(extent),
                    {{"one", std::to_string(*size)}, {"other", std::to_string(extent)}}};
      size = extent;
      call.parameters.emplace_back(
          expr::parameter({tensor.dtype(), tensor.shape().without(which)}));
      call.arguments.push_back(call.parameters.back());
      call.mapped.emplace_back(expr::moved_to_front(tensor.value(), which));
    }
  if (!size)
    throw Error{"vmap", ErrorCode::invalid_argument, "no argument has elements to map over"};
  call.size = *size;
  return call;
}

std::vector<Tensor> all_elements(const ElementCall& call, std::span<const Tensor> results,
                                 std::int64_t out_axis) {
  for (const Tensor& result : results)
    if (result.rank() == Shape::max_rank)
      throw Error{"vmap",
                  ErrorCode::shape_mismatch,
                  "the results cannot be stacked: " + result.spec().to_string() +
                      " has as many axes as there may be",
                  {{"got", result.spec().to_string()}}};
  const expr::Function function{values_of(call.parameters), values_of(results)};
  const std::vector<std::uint8_t> mapped(call.parameters.size(), 1);
  std::vector<Tensor> made;
  for (const expr::Value& value :
       expr::batched(function, values_of(call.mapped), mapped, call.size, call.mark))
    made.emplace_back(
        moved_from_front(value, checked_axis("vmap", out_axis, value.shape().rank())));
  return made;
}

}  // namespace stoker::detail
