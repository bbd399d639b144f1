#include <algorithm>
#include <cmath>
#include <string>

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/linear_algebra.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/kernels/params.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::linalg {
namespace {

const Reduce last{Axes{-1}};
const Reduce rows{Axes{-2}};

Tensor squares(const Tensor& x) {
  if (!is_complex(x.dtype())) return x * x;
  const Tensor size = abs(x);
  return size * size;
}

/// Of what is along the last axis; nothing if there is no such norm.
std::optional<Tensor> of_vectors(const Tensor& x, const NormOrder& ord) {
  if (!ord.number() || std::isnan(*ord.number())) return std::nullopt;
  const double p = *ord.number();
  const Tensor size = abs(x);
  if (p == inf) return reduce_max(size, last);
  if (p == -inf) return reduce_min(size, last);
  if (p == 0) return as_type(sum(x != 0, last), size.dtype());
  if (p == 2) return sqrt(sum(squares(x), last));
  return pow(sum(pow(size, p), last), 1 / p);
}

/// Of the matrices of the last two axes.
std::optional<Tensor> of_matrices(const Tensor& x, const NormOrder& ord) {
  if (ord.name() == MatrixNorm::fro) return sqrt(sum(squares(x), {Axes{-2, -1}}));
  if (ord.name() == MatrixNorm::nuc) return sum(svd(x, false).s, last);
  const Tensor size = abs(x);
  if (ord.number() == 1) return reduce_max(sum(size, rows), last);
  if (ord.number() == -1) return reduce_min(sum(size, rows), last);
  if (ord.number() == inf) return reduce_max(sum(size, last), last);
  if (ord.number() == -inf) return reduce_min(sum(size, last), last);
  if (ord.number() == 2) return reduce_max(svd(x, false).s, last);
  if (ord.number() == -2) return reduce_min(svd(x, false).s, last);
  return std::nullopt;
}

std::string text_of(const NormOrder& ord) {
  if (ord.name() == MatrixNorm::fro) return "fro";
  if (ord.name() == MatrixNorm::nuc) return "nuc";
  if (ord.name()) return "a MatrixNorm of " + std::to_string(static_cast<int>(*ord.name()));
  return to_string(ParamValue{*ord.number()});
}

[[noreturn]] void refuse(const NormOrder& ord, std::size_t axes, const Tensor& x) {
  const std::string expected = axes == 1   ? "a number"
                               : axes == 2 ? "one of 1, -1, 2, -2, inf, -inf, fro, nuc"
                                           : "none";
  const std::string got = text_of(ord);
  throw Error{"norm",
              ErrorCode::invalid_parameter,
              "expected an order over " + std::to_string(axes) + " axes of " +
                  x.spec().to_string() + ": " + expected + "; got " + got,
              {{"expected", expected}, {"got", got}, {"input", x.spec().to_string()}}};
}

}  // namespace

Tensor norm(const Tensor& given, const NormOrder& ord, const Reduce& over) {
  const DType dtype = expr::floating(given.dtype());
  const DType part = component_of(dtype);
  // Squares of 16-bit floats soon leave their range.
  const Tensor x = as_type(given, size_of(dtype) == 2 ? DType::f32 : dtype);
  const Axes axes = detail::checked_axes("norm", over.axes, x.rank());
  if (!ord.is_given()) return as_type(sqrt(sum(squares(x), over)), part);
  // The axes that go become the last.
  Axes order;
  std::vector<std::int64_t> kept(x.shape().begin(), x.shape().end());
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(x.rank()); ++axis)
    if (!std::ranges::binary_search(axes, axis)) order.push_back(axis);
  order.insert(order.end(), axes.begin(), axes.end());
  for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
  const Tensor moved = transpose(x, order);
  const std::optional<Tensor> made = axes.size() == 1   ? of_vectors(moved, ord)
                                     : axes.size() == 2 ? of_matrices(moved, ord)
                                                        : std::nullopt;
  if (!made) refuse(ord, axes.size(), given);
  return as_type(over.keepdims ? reshape(*made, kept) : *made, part);
}

}  // namespace stoker::linalg
