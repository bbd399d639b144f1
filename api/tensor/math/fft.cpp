#include "stoker/api/tensor/math/fft.hpp"

#include <algorithm>
#include <bit>

#include "stoker/api/tensor/math/complex.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/transforms/grad.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/complex/complex.hpp"

namespace stoker {
namespace {

std::int64_t checked_length(const char* op, const FftLength& length, std::int64_t otherwise) {
  std::int64_t n = otherwise;
  if (length && std::holds_alternative<PowerOfTwo>(*length))
    n = static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(otherwise, 1))));
  else if (length)
    n = std::get<std::int64_t>(*length);
  if (n < 1)
    throw Error{op,
                ErrorCode::invalid_parameter,
                "expected a length of 1 or more, got " + std::to_string(n),
                {{"length", std::to_string(n)}}};
  return n;
}

/// With `n` elements along the axis.
Tensor fitted(const Tensor& x, std::size_t axis, std::int64_t n) {
  const std::int64_t extent = x.shape()[axis];
  if (extent == n) return x;
  if (extent > n) return slice_along_axis(x, 0, n, static_cast<std::int64_t>(axis));
  std::vector<Padding> padding(x.rank());
  padding[axis].high = n - extent;
  return pad(x, 0, padding);
}

/// Two axes exchanged.
Tensor swapped(const Tensor& x, std::size_t a, std::size_t b) {
  Axes order = expr::all_axes(x.rank());
  std::swap(order[a], order[b]);
  return transpose(x, order);
}

Tensor transformed(const char* op, const Tensor& x, std::size_t axis) {
  const Tensor turned = swapped(x, axis, x.rank() - 1);
  const expr::Value pairs = expr::view_as_real(turned.value());
  const Tensor made{expr::view_as_complex(expr::apply_one(expr::find_op(op), {pairs}))};
  return swapped(made, axis, x.rank() - 1);
}

/// The gradient passes as if nothing were taken away: a value at 0 still moves with its input.
Tensor without_tiny(const Tensor& x, double eps) {
  return x - stop_gradient(select(abs(x) <= eps, x, 0));
}

/// Part by part: on the pairs, so that it runs in one sweep behind the transform.
Tensor rounded(const Tensor& x, double eps) {
  return eps > 0 ? view_as_complex(without_tiny(view_as_real(x), eps)) : x;
}

Tensor as_complex(const Tensor& x) { return as_type(x, expr::complexed(x.dtype())); }

Tensor one_axis(const char* op, const char* name, const Tensor& x, const Fft& how) {
  const std::size_t axis = detail::checked_axis(name, how.axis, x.rank());
  const std::int64_t n = checked_length(name, how.length, x.shape()[axis]);
  return rounded(transformed(op, fitted(as_complex(x), axis, n), axis), how.eps);
}

Tensor two_axes(const char* op, const char* name, const Tensor& x, const Fft2& how) {
  const std::array<std::size_t, 2> axes{detail::checked_axis(name, how.axes[0], x.rank()),
                                        detail::checked_axis(name, how.axes[1], x.rank())};
  if (axes[0] == axes[1])
    throw Error{name,
                ErrorCode::invalid_parameter,
                "an axis is given twice",
                {{"axis", std::to_string(axes[0])}}};
  Tensor y = as_complex(x);
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}})
    y = transformed(
        op, fitted(y, axes[i], checked_length(name, how.lengths[i], x.shape()[axes[i]])), axes[i]);
  return rounded(y, how.eps);
}

}  // namespace

Tensor fft(const Tensor& x, const Fft& how) { return one_axis("fft", "fft", x, how); }
Tensor ifft(const Tensor& x, const Fft& how) { return one_axis("ifft", "ifft", x, how); }
Tensor fft2(const Tensor& x, const Fft2& how) { return two_axes("fft", "fft2", x, how); }
Tensor ifft2(const Tensor& x, const Fft2& how) { return two_axes("ifft", "ifft2", x, how); }

Tensor rfft(const Tensor& x, const Fft& how) {
  if (is_complex(x))
    throw Error{"rfft",
                ErrorCode::dtype_mismatch,
                "expected a real dtype, got " + x.spec().to_string(),
                {{"got", x.spec().to_string()}}};
  const std::size_t axis = detail::checked_axis("rfft", how.axis, x.rank());
  const std::int64_t n = checked_length("rfft", how.length, x.shape()[axis]);
  const Tensor whole = transformed("fft", as_complex(fitted(x, axis, n)), axis);
  return rounded(slice_along_axis(whole, 0, n / 2 + 1, static_cast<std::int64_t>(axis)), how.eps);
}

Tensor irfft(const Tensor& x, const Fft& how) {
  const std::size_t axis = detail::checked_axis("irfft", how.axis, x.rank());
  const auto along = static_cast<std::int64_t>(axis);
  const std::int64_t n = checked_length("irfft", how.length, 2 * (x.shape()[axis] - 1));
  const Tensor half = fitted(as_complex(x), axis, n / 2 + 1);
  // The rest are conjugates, backwards; what would not be real at 0 and n/2 counts as real.
  const std::int64_t rest = n - (n / 2 + 1);
  const Tensor mirrored = conjugate(reverse(slice_along_axis(half, 1, rest, along), Axes{along}));
  const Tensor whole = rest > 0 ? concatenate({half, mirrored}, along) : half;
  const Tensor y = real(transformed("ifft", whole, axis));
  return how.eps > 0 ? without_tiny(y, how.eps) : y;
}

}  // namespace stoker
