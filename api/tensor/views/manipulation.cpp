#include "stoker/api/tensor/views/manipulation.hpp"

#include <algorithm>
#include <numeric>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

std::span<const std::int64_t> as_span(std::initializer_list<std::int64_t> list) {
  return {list.begin(), list.size()};
}

void check_count(const char* op, const char* what, std::size_t got, std::size_t rank) {
  if (got != rank)
    throw Error{op,
                ErrorCode::invalid_parameter,
                std::string{what} + " has " + std::to_string(got) + " entries for " +
                    std::to_string(rank) + " axes",
                {{"got", std::to_string(got)}, {"expected", std::to_string(rank)}}};
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  return Tensor{expr::reshape(x.value(), shape), shape == x.shape() ? x.names() : AxisNames{}};
}

Tensor reshape(const Tensor& x, std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> full(extents.begin(), extents.end());
  const auto open = std::ranges::find(full, -1);
  if (open != full.end()) {
    *open = 1;
    if (std::ranges::count(full, -1) != 0)
      throw Error{"reshape",
                  ErrorCode::invalid_parameter,
                  "-1 stands for one extent, got it twice",
                  {{"input", x.spec().to_string()}}};
    const std::int64_t rest = Shape::make(full, "reshape").elements();
    if (rest == 0 || x.shape().elements() % rest != 0)
      throw Error{"reshape",
                  ErrorCode::shape_mismatch,
                  "no extent for -1 fits " + x.shape().to_string(),
                  {{"input", x.spec().to_string()}}};
    *open = x.shape().elements() / rest;
  }
  return reshape(x, Shape::make(full, "reshape"));
}

Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> extents) {
  return reshape(x, as_span(extents));
}

Tensor flatten(const Tensor& x) { return reshape(x, Shape{x.shape().elements()}); }

Tensor squeeze(const Tensor& x, const std::optional<Axes>& axes) {
  const Axes named = detail::checked_axes("squeeze", axes, x.rank());
  std::vector<std::int64_t> extents;
  Axes dropped;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const std::int64_t extent = x.shape()[axis];
    const bool goes = std::ranges::binary_search(named, static_cast<std::int64_t>(axis));
    if (axes && goes && extent != 1)
      throw Error{"squeeze",
                  ErrorCode::shape_mismatch,
                  "axis " + std::to_string(axis) + " has extent " + std::to_string(extent),
                  {{"input", x.spec().to_string()}, {"axis", std::to_string(axis)}}};
    if (!goes || extent != 1) extents.push_back(extent);
    if (goes && extent == 1) dropped.push_back(static_cast<std::int64_t>(axis));
  }
  return Tensor{expr::reshape(x.value(), Shape::make(extents, "squeeze")),
                x.names().without(dropped, x.rank())};
}

Tensor new_axis(const Tensor& x, std::int64_t axis) {
  const std::size_t place = detail::checked_axis("new_axis", axis, x.rank() + 1);
  std::vector<std::int64_t> extents(x.shape().begin(), x.shape().end());
  extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(place), 1);
  Axes kept(x.rank());
  std::iota(kept.begin(), kept.end(), 0);
  kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(place), -1);
  return Tensor{expr::reshape(x.value(), Shape::make(extents, "new_axis")), x.names().chosen(kept)};
}

Tensor broadcast(const Tensor& x, const Shape& shape) {
  if (shape.rank() < x.rank())
    throw Error{
        "broadcast",
        ErrorCode::shape_mismatch,
        "shape mismatch: " + x.shape().to_string() + " does not broadcast to " + shape.to_string(),
        {{"input", x.spec().to_string()}, {"shape", shape.to_string()}}};
  return Tensor{expr::broadcast_to(x.value(), shape),
                AxisNames::merged("broadcast", x.names(), x.rank(), {}, shape.rank())};
}

Tensor broadcast(const Tensor& x, const Shape& shape, const Axes& axes) {
  Axes checked;
  for (const std::int64_t axis : axes)
    checked.push_back(static_cast<std::int64_t>(detail::checked_axis("broadcast", axis, shape)));
  Axes from(shape.rank(), -1);
  for (std::size_t i = 0; i < checked.size(); ++i)
    from[static_cast<std::size_t>(checked[i])] = static_cast<std::int64_t>(i);
  return Tensor{expr::broadcast_axes(x.value(), shape, checked), x.names().chosen(from)};
}

Tensor transpose(const Tensor& x, const std::optional<Axes>& axes) {
  Axes order(x.rank());
  if (axes) {
    check_count("transpose", "axes", axes->size(), x.rank());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::int64_t>(detail::checked_axis("transpose", (*axes)[i], x.rank()));
  } else {
    std::iota(order.rbegin(), order.rend(), 0);
  }
  return Tensor{expr::transpose(x.value(), order), x.names().chosen(order)};
}

Tensor reverse(const Tensor& x, const std::optional<Axes>& axes) {
  return Tensor{expr::reverse(x.value(), detail::checked_axes("reverse", axes, x.rank())),
                x.names()};
}

Tensor tile(const Tensor& x, std::span<const std::int64_t> repetitions) {
  const std::size_t rank = std::max(repetitions.size(), x.rank());
  std::vector<std::int64_t> extents(rank - x.rank(), 1);
  extents.insert(extents.end(), x.shape().begin(), x.shape().end());
  std::vector<std::int64_t> times(rank - repetitions.size(), 1);
  times.insert(times.end(), repetitions.begin(), repetitions.end());
  if (std::ranges::any_of(times, [](std::int64_t one) { return one < 0; }))
    throw Error{"tile", ErrorCode::invalid_parameter, "a repetition is negative"};
  Tensor result = reshape(x, Shape::make(extents, "tile"));
  for (std::size_t axis = 0; axis < rank;) {
    // Each axis that is repeated becomes (times, extent), which are then one; those that are not join
    // the one before. So many fit a shape at once.
    constexpr std::size_t at_once = 3;
    std::vector<std::int64_t> apart{1};
    for (std::size_t before = 0; before < axis; ++before) apart[0] *= extents[before];
    std::vector<std::int64_t> repeated = apart;
    for (std::size_t count = 0; axis < rank; ++axis) {
      if (times[axis] == 1) {
        apart.back() *= extents[axis];
        repeated.back() *= extents[axis];
        continue;
      }
      if (count++ == at_once) break;
      apart.insert(apart.end(), {1, extents[axis]});
      repeated.insert(repeated.end(), {times[axis], extents[axis]});
      if (__builtin_mul_overflow(extents[axis], times[axis], &extents[axis]))
        throw Error{"tile", ErrorCode::invalid_argument,
                    "too many elements along axis " + std::to_string(axis)};
    }
    for (std::size_t behind = axis; behind < rank; ++behind) {
      apart.back() *= extents[behind];
      repeated.back() *= extents[behind];
    }
    const Tensor spread = broadcast(reshape(result, apart), Shape::make(repeated, "tile"));
    result = reshape(spread, Shape::make(extents, "tile"));
  }
  return Tensor{result.value(), AxisNames::merged("tile", x.names(), x.rank(), {}, rank)};
}

Tensor tile(const Tensor& x, std::initializer_list<std::int64_t> repetitions) {
  return tile(x, as_span(repetitions));
}

Tensor slice(const Tensor& x, const Axes& starts, const Axes& lengths,
             const std::optional<Axes>& strides) {
  check_count("slice", "starts", starts.size(), x.rank());
  check_count("slice", "lengths", lengths.size(), x.rank());
  const Axes steps = strides.value_or(Axes(x.rank(), 1));
  check_count("slice", "strides", steps.size(), x.rank());
  Axes moved = starts;
  for (std::size_t axis = 0; axis < moved.size(); ++axis) {
    const std::int64_t extent = x.shape()[axis];
    if (lengths[axis] <= extent)
      moved[axis] = std::clamp<std::int64_t>(moved[axis], 0, extent - lengths[axis]);
  }
  return Tensor{expr::slice(x.value(), moved, lengths, steps), x.names()};
}

Tensor slice_along_axis(const Tensor& x, std::int64_t start, std::int64_t length, std::int64_t axis,
                        std::int64_t stride) {
  const std::size_t which = detail::checked_axis("slice_along_axis", axis, x.rank());
  Axes starts(x.rank(), 0);
  Axes lengths(x.shape().begin(), x.shape().end());
  Axes strides(x.rank(), 1);
  starts[which] = start;
  lengths[which] = length;
  strides[which] = stride;
  return slice(x, starts, lengths, strides);
}

Tensor pad(const Tensor& x, const TensorLike& value, const std::vector<Padding>& padding) {
  check_count("pad", "padding", padding.size(), x.rank());
  const DType dtype = value.is_literal() ? expr::merged(x.dtype(), value.literal())
                                         : expr::merged(x.dtype(), value.dtype());
  Axes low;
  Axes high;
  Axes interior;
  for (const Padding& one : padding) {
    low.push_back(one.low);
    high.push_back(one.high);
    interior.push_back(one.interior);
  }
  return Tensor{expr::pad(expr::cast(x.value(), dtype), value.as(dtype), low, high, interior),
                x.names()};
}

Tensor concatenate(std::span<const Tensor> tensors, std::int64_t axis) {
  if (tensors.empty())
    throw Error{"concatenate", ErrorCode::arity_mismatch, "expected a tensor or more, got none"};
  DType dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) dtype = expr::merged(dtype, tensor.dtype());
  const std::size_t which = detail::checked_axis("concatenate", axis, tensors[0].rank());
  std::vector<expr::Value> values;
  AxisNames names = tensors[0].names();
  for (const Tensor& tensor : tensors) {
    values.push_back(expr::cast(tensor.value(), dtype));
    names =
        AxisNames::merged("concatenate", names, tensors[0].rank(), tensor.names(), tensor.rank());
  }
  return Tensor{expr::concatenate(values, static_cast<std::int64_t>(which)), std::move(names)};
}

Tensor concatenate(std::initializer_list<Tensor> tensors, std::int64_t axis) {
  return concatenate(std::span<const Tensor>{tensors.begin(), tensors.size()}, axis);
}

Tensor stack(std::span<const Tensor> tensors, std::int64_t axis) {
  std::vector<Tensor> raised;
  for (const Tensor& tensor : tensors) {
    if (tensor.shape() != tensors[0].shape())
      throw Error{"stack",
                  ErrorCode::shape_mismatch,
                  "shape mismatch: lhs " + tensors[0].shape().to_string() + ", rhs " +
                      tensor.shape().to_string(),
                  {{"lhs", tensors[0].spec().to_string()}, {"rhs", tensor.spec().to_string()}}};
    raised.push_back(new_axis(tensor, axis));
  }
  return concatenate(raised, axis);
}

Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis) {
  return stack(std::span<const Tensor>{tensors.begin(), tensors.size()}, axis);
}

std::pair<Tensor, Tensor> split(const Tensor& x, std::int64_t size, std::int64_t axis) {
  const std::size_t which = detail::checked_axis("split", axis, x.rank());
  const std::int64_t extent = x.shape()[which];
  if (size < 1 || size >= extent)
    throw Error{
        "split",
        ErrorCode::invalid_parameter,
        "both parts have elements: " + std::to_string(size) + " of " + std::to_string(extent),
        {{"size", std::to_string(size)}, {"extent", std::to_string(extent)}}};
  return {slice_along_axis(x, 0, size, axis), slice_along_axis(x, size, extent - size, axis)};
}

namespace {

Tensor triangle(const char* op, const Tensor& x, bool lower, std::int64_t k) {
  if (x.rank() < 2)
    throw Error{op, ErrorCode::shape_mismatch,
                "expected two axes or more, got " + x.spec().to_string()};
  // Further away there is nothing, and the sum stays in range.
  const Shape& shape = x.shape();
  k = std::clamp(k, -shape[shape.rank() - 2], shape[shape.rank() - 1]);
  const Tensor rows = iota_along(shape, -2) + k;
  const Tensor columns = iota_along(shape, -1);
  return select(lower ? rows >= columns : rows <= columns, x, 0);
}

}  // namespace

Tensor tril(const Tensor& x, std::int64_t k) { return triangle("tril", x, true, k); }
Tensor triu(const Tensor& x, std::int64_t k) { return triangle("triu", x, false, k); }

}  // namespace stoker
