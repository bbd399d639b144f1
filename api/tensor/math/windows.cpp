#include "stoker/api/tensor/math/windows.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {

detail::CompleteWindow detail::complete_window(const char* op, const Tensor& x,
                                               const Window& window) {
  const std::size_t rank = x.rank();
  CompleteWindow all{window.dimensions, window.strides.value_or(Axes(rank, 1)), Axes(rank, 0),
                     Axes(rank, 0), window.dilations.value_or(Axes(rank, 1))};
  for (const Axes* one : {&all.window, &all.strides, &all.dilations})
    if (one->size() != rank)
      throw Error{op, ErrorCode::invalid_parameter,
                  "dimensions, strides and dilations have one entry for each of " +
                      std::to_string(rank) + " axes"};
  if (const auto* pairs =
          std::get_if<std::vector<std::pair<std::int64_t, std::int64_t>>>(&window.padding)) {
    if (pairs->size() != rank)
      throw Error{op, ErrorCode::invalid_parameter, "padding has one pair for each axis"};
    for (std::size_t axis = 0; axis < rank; ++axis) {
      all.low[axis] = (*pairs)[axis].first;
      all.high[axis] = (*pairs)[axis].second;
    }
  } else if (std::get<PadRule>(window.padding) == PadRule::same) {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      // As Nx counts: whatever the strides are, the result has ceil(extent / stride) elements.
      std::int64_t total = 0;
      if (__builtin_mul_overflow(all.window[axis] - 1, all.dilations[axis], &total))
        throw Error{op, ErrorCode::invalid_parameter,
                    "the window becomes too long by dilation along axis " + std::to_string(axis)};
      all.low[axis] = total / 2;
      all.high[axis] = total - all.low[axis];
    }
  }
  return all;
}

namespace {

Tensor reduced(const char* op, const Tensor& x, const Window& window, DType dtype) {
  const detail::CompleteWindow all = detail::complete_window(op, x, window);
  return Tensor{expr::apply_one(expr::find_op(op), {expr::cast(x.value(), dtype)},
                                {{"window", all.window},
                                 {"strides", all.strides},
                                 {"padding_low", all.low},
                                 {"padding_high", all.high},
                                 {"window_dilations", all.dilations},
                                 {"base_dilations", Axes(x.rank(), 1)}})};
}

Tensor scattered(const char* op, const Tensor& x, const Tensor& source, const TensorLike& init,
                 const Window& window) {
  const detail::CompleteWindow all = detail::complete_window(op, x, window);
  const DType dtype = expr::merged(x.dtype(), source.dtype());
  return Tensor{expr::apply_one(
      expr::find_op(op),
      {expr::cast(x.value(), dtype), expr::cast(source.value(), dtype), init.as(dtype)},
      {{"window", all.window},
       {"strides", all.strides},
       {"padding_low", all.low},
       {"padding_high", all.high}})};
}

}  // namespace

Tensor window_sum(const Tensor& x, const Window& window) {
  return reduced("window_sum", x, window, expr::aggregated(x.dtype()));
}
Tensor window_product(const Tensor& x, const Window& window) {
  return reduced("window_product", x, window, expr::aggregated(x.dtype()));
}
Tensor window_max(const Tensor& x, const Window& window) {
  return reduced("window_max", x, window, x.dtype());
}
Tensor window_min(const Tensor& x, const Window& window) {
  return reduced("window_min", x, window, x.dtype());
}

Tensor window_mean(const Tensor& x, const Window& window) {
  double size = 1;
  for (const std::int64_t extent : window.dimensions) size *= static_cast<double>(extent);
  // A window's sum leaves the range of f16 long before its mean does.
  const DType dtype = expr::floating(x.dtype());
  const Tensor value = as_type(x, size_of(dtype) == 2 ? DType::f32 : dtype);
  return as_type(window_sum(value, window) / size, dtype);
}

Tensor window_scatter_max(const Tensor& x, const Tensor& source, const TensorLike& init,
                          const Window& window) {
  return scattered("window_scatter_max", x, source, init, window);
}
Tensor window_scatter_min(const Tensor& x, const Tensor& source, const TensorLike& init,
                          const Window& window) {
  return scattered("window_scatter_min", x, source, init, window);
}

}  // namespace stoker
