#include "stoker/api/tensor/core/creation.hpp"

#include <algorithm>

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace detail {

Tensor from_bytes(const TensorSpec& spec, std::span<const std::byte> bytes) {
  if (bytes.size() != spec.bytes())
    throw Error{"tensor",
                ErrorCode::invalid_argument,
                "expected " + std::to_string(spec.bytes()) + " bytes for " + spec.to_string() +
                    ", got " + std::to_string(bytes.size()),
                {{"spec", spec.to_string()}, {"got", std::to_string(bytes.size())}}};
  return Tensor{current_device().buffer(spec, bytes)};
}

void check_row(std::size_t length, std::size_t expected) {
  if (length != expected)
    throw Error{"tensor",
                ErrorCode::shape_mismatch,
                "the rows of a list have different lengths: " + std::to_string(expected) + " and " +
                    std::to_string(length),
                {{"expected", std::to_string(expected)}, {"got", std::to_string(length)}}};
}

}  // namespace detail

Tensor tensor(std::span<const std::byte> bytes, const TensorSpec& spec) {
  return detail::from_bytes(spec, bytes);
}

Tensor full(const Shape& shape, const TensorLike& number) {
  return full(shape, number, number.dtype());
}

Tensor full(const Shape& shape, const TensorLike& number, DType dtype) {
  return Tensor{expr::broadcast_to(number.as(dtype), shape)};
}

Tensor zeros(const Shape& shape, DType dtype) { return Tensor{expr::constant(0, dtype, shape)}; }
Tensor ones(const Shape& shape, DType dtype) { return Tensor{expr::constant(1, dtype, shape)}; }
Tensor full_like(const Tensor& tensor, const TensorLike& number) {
  return full(tensor.shape(), number, tensor.dtype());
}
Tensor full_like(const Tensor& tensor, const TensorLike& number, DType dtype) {
  return full(tensor.shape(), number, dtype);
}
Tensor zeros_like(const Tensor& tensor) { return zeros(tensor.shape(), tensor.dtype()); }
Tensor ones_like(const Tensor& tensor) { return ones(tensor.shape(), tensor.dtype()); }

Tensor iota(const Shape& shape, DType dtype) { return Tensor{expr::iota({dtype, shape})}; }

Tensor iota_along(const Shape& shape, std::int64_t axis, DType dtype) {
  return Tensor{expr::iota({dtype, shape}, detail::checked_axis("iota", axis, shape))};
}

Tensor eye(const Shape& shape, DType dtype) {
  if (shape.rank() < 2)
    throw Error{"eye", ErrorCode::shape_mismatch,
                "expected two axes or more, got " + shape.to_string()};
  return as_type(equal(iota_along(shape, -2), iota_along(shape, -1)), dtype);
}

Tensor eye(std::int64_t n, DType dtype) { return eye(Shape{n, n}, dtype); }

Tensor tri(std::int64_t rows, std::int64_t columns, std::int64_t k, DType dtype) {
  const Shape shape{rows, columns};
  return as_type(greater_equal(iota_along(shape, 0) + k, iota_along(shape, 1)), dtype);
}

Tensor linspace(const TensorLike& start, const TensorLike& stop, std::int64_t n, bool endpoint,
                DType dtype) {
  if (n < 0 || !is_float(dtype))
    throw Error{"linspace",
                ErrorCode::invalid_parameter,
                "n is 0 or more and the dtype a float",
                {{"n", std::to_string(n)}, {"dtype", std::string{to_string(dtype)}}}};
  const Tensor first = new_axis(Tensor{start.as(dtype)}, -1);
  const Tensor last = new_axis(Tensor{stop.as(dtype)}, -1);
  const auto parts = static_cast<double>(std::max<std::int64_t>(endpoint ? n - 1 : n, 1));
  const Tensor step = (last - first) / parts;
  return first + iota(Shape{n}, dtype) * step;
}

}  // namespace stoker
