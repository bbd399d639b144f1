#include "stoker/api/tensor/views/slicing.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

[[noreturn]] void refuse(const Tensor& x, std::size_t axis, const std::string& asked) {
  throw Error{"index",
              ErrorCode::invalid_parameter,
              "axis " + std::to_string(axis) + " of " + x.spec().to_string() + " has no " + asked,
              {{"input", x.spec().to_string()}, {"axis", std::to_string(axis)}, {"asked", asked}}};
}

/// Start, length and step within an axis.
struct Span {
  std::int64_t start = 0;
  std::int64_t length = 0;
  std::int64_t step = 1;
};

Span span_of(const Tensor& x, std::size_t axis, std::int64_t position) {
  const std::int64_t extent = x.shape()[axis];
  const std::int64_t from_start = position < 0 ? position + extent : position;
  if (from_start < 0 || from_start >= extent)
    refuse(x, axis, "position " + std::to_string(position));
  return {from_start, 1, 1};
}

Span span_of(const Tensor& x, std::size_t axis, const Range& range) {
  const std::int64_t extent = x.shape()[axis];
  const auto from_start = [&](std::int64_t place) { return place < 0 ? place + extent : place; };
  const std::int64_t start = from_start(range.start);
  const std::int64_t stop = range.stop == Range::end ? extent : from_start(range.stop);
  if (start < 0 || stop > extent || start > stop || range.step < 1)
    refuse(x, axis,
           "range from " + std::to_string(range.start) + " to " +
               (range.stop == Range::end ? "the end" : std::to_string(range.stop)) + " by " +
               std::to_string(range.step));
  return {start, stop - start, range.step};
}

}  // namespace

Tensor part(const Tensor& x, std::span<const Index> indices) {
  if (indices.size() > x.rank())
    throw Error{"index",
                ErrorCode::invalid_parameter,
                std::to_string(indices.size()) + " indices for " + std::to_string(x.rank()) +
                    " axes of " + x.spec().to_string(),
                {{"input", x.spec().to_string()}, {"got", std::to_string(indices.size())}}};
  Axes starts(x.rank(), 0);
  Axes lengths(x.shape().begin(), x.shape().end());
  Axes strides(x.rank(), 1);
  std::vector<std::int64_t> kept;
  std::vector<std::pair<std::int64_t, Tensor>> later;  // of the axes that are kept
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const Index::What whole{every};
    const Index::What& what = axis < indices.size() ? indices[axis].what() : whole;
    if (const auto* position = std::get_if<Tensor>(&what)) {
      if (position->rank() != 0 || !is_integer(position->dtype()))
        throw Error{"index",
                    ErrorCode::dtype_mismatch,
                    "expected an integer scalar, got " + position->spec().to_string(),
                    {{"got", position->spec().to_string()}}};
      later.emplace_back(static_cast<std::int64_t>(kept.size()), *position);
      kept.push_back(x.shape()[axis]);
      continue;
    }
    const auto* number = std::get_if<std::int64_t>(&what);
    const Span span = number ? span_of(x, axis, *number) : span_of(x, axis, std::get<Range>(what));
    starts[axis] = span.start;
    lengths[axis] = span.length;
    strides[axis] = span.step;
    if (!number) kept.push_back(span.length == 0 ? 0 : (span.length - 1) / span.step + 1);
  }
  const expr::Value box = expr::slice(x.value(), starts, lengths, strides);
  Tensor result{expr::reshape(box, Shape::make(kept, "index"))};
  // From the last axis on, so that the others keep their places.
  for (std::size_t i = later.size(); i-- > 0;) {
    const std::int64_t extent = result.shape()[static_cast<std::size_t>(later[i].first)];
    const Tensor& given = later[i].second;
    if (!is_signed(given.dtype())) {
      result = take(result, given, later[i].first);
      continue;
    }
    const Tensor position = as_type(given, size_of(given.dtype()) < 8 ? DType::s32 : DType::s64);
    result = take(result, select(position < 0, position + extent, position), later[i].first);
  }
  return result;
}

Tensor Tensor::operator[](const Index& index) const { return part(*this, {&index, 1}); }

Tensor Tensor::operator[](std::initializer_list<Index> indices) const {
  return part(*this, {indices.begin(), indices.size()});
}

}  // namespace stoker
