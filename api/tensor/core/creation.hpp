// Makes tensors from numbers.
//
// Threads: any. Memory is copied before a call returns. Errors are thrown: invalid_argument for ragged
// lists and wrong sizes, out_of_memory.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

namespace detail {
/// The dtype of a literal's type: integers are s32, floating-point numbers f32, complex numbers c64, bool
/// is u8.
struct Inferred {};
template <class Wanted, class Written>
using ElementType = std::conditional_t<
    !std::is_same_v<Wanted, Inferred>, Wanted,
    std::conditional_t<
        std::is_same_v<Written, bool>, std::uint8_t,
        std::conditional_t<
            std::is_same_v<Written, int>, std::int32_t,
            std::conditional_t<std::is_same_v<Written, double>, float,
                               std::conditional_t<std::is_same_v<Written, std::complex<double>>,
                                                  std::complex<float>, Written>>>>>;

[[nodiscard]] Tensor from_bytes(const TensorSpec& spec, std::span<const std::byte> bytes);
void check_row(std::size_t length, std::size_t expected);

template <class E> struct Gathered {
  std::vector<std::int64_t> extents;
  std::vector<E> elements;
};
template <class E, class T> void gather_list(Gathered<E>& into, std::size_t, const T& number) {
  into.elements.push_back(static_cast<E>(number));
}
template <class E, class T>
void gather_list(Gathered<E>& into, std::size_t depth, const std::initializer_list<T>& list) {
  if (depth == into.extents.size()) into.extents.push_back(static_cast<std::int64_t>(list.size()));
  check_row(list.size(), static_cast<std::size_t>(into.extents[depth]));
  for (const T& one : list) gather_list(into, depth + 1, one);
}
template <class E, class List> [[nodiscard]] Tensor from_list(const List& list) {
  Gathered<E> gathered;
  gather_list(gathered, 0, list);
  return from_bytes({dtype_of<E>, Shape::make(gathered.extents, "tensor")},
                    std::as_bytes(std::span<const E>{gathered.elements}));
}
}  // namespace detail

/// tensor({1, 2, 3}), tensor({{1.0, 2.0}, {3.0, 4.0}}), …: integers as s32, floating-point numbers as
/// f32, std::complex as c64, bool as u8; tensor<double>({1, 2}) names the element type. Throws
/// shape_mismatch for ragged lists.
template <class E = detail::Inferred, class T>
[[nodiscard]] Tensor tensor(std::initializer_list<T> list) {
  return detail::from_list<detail::ElementType<E, T>>(list);
}
template <class E = detail::Inferred, class T>
[[nodiscard]] Tensor tensor(std::initializer_list<std::initializer_list<T>> list) {
  return detail::from_list<detail::ElementType<E, T>>(list);
}
template <class E = detail::Inferred, class T>
[[nodiscard]] Tensor tensor(
    std::initializer_list<std::initializer_list<std::initializer_list<T>>> list) {
  return detail::from_list<detail::ElementType<E, T>>(list);
}
/// A scalar, of rank 0.
template <class E = detail::Inferred, Number T> [[nodiscard]] Tensor tensor(T number) {
  return detail::from_list<detail::ElementType<E, T>>(number);
}
/// The elements of a span in row-major order.
template <class T> [[nodiscard]] Tensor tensor(std::span<const T> values, const Shape& shape) {
  return detail::from_bytes({dtype_of<T>, shape}, std::as_bytes(values));
}
template <class T> [[nodiscard]] Tensor tensor(const std::vector<T>& values, const Shape& shape) {
  return tensor(std::span<const T>{values}, shape);
}
template <class T> [[nodiscard]] Tensor tensor(const std::vector<T>& values) {
  return tensor(std::span<const T>{values}, Shape{static_cast<std::int64_t>(values.size())});
}
/// A tensor from bytes in the device's layout; they must fill the spec exactly.
[[nodiscard]] Tensor tensor(std::span<const std::byte> bytes, const TensorSpec& spec);

/// A tensor filled with one number.
[[nodiscard]] Tensor full(const Shape& shape, const TensorLike& number);
[[nodiscard]] Tensor full(const Shape& shape, const TensorLike& number, DType dtype);
[[nodiscard]] Tensor zeros(const Shape& shape, DType dtype = DType::f32);
[[nodiscard]] Tensor ones(const Shape& shape, DType dtype = DType::f32);
/// Filled tensors with the shape of `tensor`, and its dtype unless another is given.
[[nodiscard]] Tensor full_like(const Tensor& tensor, const TensorLike& number);
[[nodiscard]] Tensor full_like(const Tensor& tensor, const TensorLike& number, DType dtype);
[[nodiscard]] Tensor zeros_like(const Tensor& tensor);
[[nodiscard]] Tensor ones_like(const Tensor& tensor);
/// 0, 1, 2, … over all elements in row-major order, or along one axis.
[[nodiscard]] Tensor iota(const Shape& shape, DType dtype = DType::s32);
[[nodiscard]] Tensor iota_along(const Shape& shape, std::int64_t axis, DType dtype = DType::s32);
/// Ones on the diagonal of the last two axes.
[[nodiscard]] Tensor eye(const Shape& shape, DType dtype = DType::s32);
[[nodiscard]] Tensor eye(std::int64_t n, DType dtype = DType::s32);
/// Ones on and below diagonal `k`, else zeros.
[[nodiscard]] Tensor tri(std::int64_t rows, std::int64_t columns, std::int64_t k = 0,
                         DType dtype = DType::u8);
/// `n` evenly spaced numbers from `start` to `stop`, along a new last axis. `endpoint` includes
/// `stop`. `start` and `stop` broadcast.
[[nodiscard]] Tensor linspace(const TensorLike& start, const TensorLike& stop, std::int64_t n,
                              bool endpoint = true, DType dtype = DType::f32);

}  // namespace stoker
