#include "stoker/api/data/normalize.hpp"

#include <array>
#include <string>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/promotion.hpp"

namespace stoker::nn {
namespace {

Axes row_axes(const Tensor&) { return {0}; }
Axes axes_within_a_row(const Tensor& x) {
  if (x.rank() == 1) return {0};
  Axes axes;
  for (std::size_t axis = 1; axis < x.rank(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  return axes;
}

struct ShiftAndDivisor {
  Tensor shift;
  Tensor divisor;
};

ShiftAndDivisor standard(const Tensor& x, const Axes& axes) {
  const Reduce over{axes, true};
  // The mean of equal numbers may be off by a rounding, and the deviation then is not 0.
  const Tensor low = reduce_min(x, over);
  const Tensor constant = low == reduce_max(x, over);
  return {select(constant, low, mean(x, over)), select(constant, 0, standard_deviation(x, over))};
}

ShiftAndDivisor minmax(const Tensor& x, const Axes& axes) {
  const Tensor low = reduce_min(x, {axes, true});
  return {low, reduce_max(x, {axes, true}) - low};
}

ShiftAndDivisor l2(const Tensor& x, const Axes& axes) {
  // Divided by the largest first, so that squares neither overflow nor vanish.
  const Tensor largest = reduce_max(abs(x), {axes, true});
  const Tensor scale = select(largest == 0, 1, largest);
  const Tensor parts = x / scale;
  return {zeros_like(largest), sqrt(sum(parts * parts, {axes, true})) * scale};
}

struct Method {
  NormalizeMethod which;
  bool has_stats;
  Axes (*axes)(const Tensor& x);
  ShiftAndDivisor (*measure)(const Tensor& x, const Axes& axes);
};
constexpr std::array methods{
    Method{NormalizeMethod::standard, true, row_axes, standard},
    Method{NormalizeMethod::minmax, true, row_axes, minmax},
    Method{NormalizeMethod::l2, false, axes_within_a_row, l2},
};

const Method& method_of(NormalizeMethod which) {
  for (const Method& method : methods)
    if (method.which == which) return method;
  std::string expected;
  for (const auto& [word, method] : normalize_methods)
    expected += (expected.empty() ? "" : ", ") + std::string{word};
  const std::string got = std::to_string(static_cast<int>(which));
  throw Error{"normalize",
              ErrorCode::invalid_parameter,
              "expected a method, one of " + expected + ", got a NormalizeMethod of " + got,
              {{"expected", expected}, {"got", got}}};
}

Tensor as_float(const Tensor& x) { return as_type(x, expr::floating(x.dtype())); }

ShiftAndDivisor measured(const Method& method, const Tensor& x, const NormalizeOptions& options) {
  if (x.rank() == 0 || x.size() == 0)
    throw Error{"normalize",
                ErrorCode::shape_mismatch,
                "expected rows, got " + x.spec().to_string(),
                {{"got", x.spec().to_string()}}};
  const Axes axes = options.axes ? stoker::detail::checked_axes("normalize", options.axes, x.rank())
                                 : method.axes(x);
  return method.measure(as_float(x), axes);
}

Tensor applied(const Tensor& x, const ShiftAndDivisor& by) {
  return (as_float(x) - by.shift) / select(by.divisor == 0, 1, by.divisor);
}

}  // namespace

Tensor normalize(const Tensor& x, const NormalizeOptions& options) {
  return applied(x, measured(method_of(options.method), x, options));
}

NormalStats normalize_stats(const Tensor& x, const NormalizeOptions& options) {
  const Method& method = method_of(options.method);
  if (!method.has_stats)
    throw Error{"normalize_stats",
                ErrorCode::invalid_argument,
                "the method l2 looks at each row alone and has no statistics, expected standard or "
                "minmax",
                {{"expected", "standard, minmax"}, {"got", "l2"}}};
  const ShiftAndDivisor found = measured(method, x, options);
  return {options.method, found.shift, found.divisor};
}

Tensor normalize_with_stats(const Tensor& x, const NormalStats& stats) {
  for (const Tensor& part : {stats.shift, stats.divisor}) {
    const auto shape = part.has_value() ? broadcast(part.shape(), x.shape()) : std::nullopt;
    if (!shape || *shape != x.shape())
      throw Error{"normalize_with_stats",
                  ErrorCode::shape_mismatch,
                  "statistics " + (part.has_value() ? part.spec().to_string() : "(none)") +
                      " do not fit " + x.spec().to_string(),
                  {{"input", x.spec().to_string()}}};
  }
  return applied(x, {stats.shift, stats.divisor});
}

Tensor one_hot(const Tensor& labels, std::optional<std::int64_t> num_classes) {
  if (!is_integer(labels.dtype()))
    throw Error{"one_hot",
                ErrorCode::dtype_mismatch,
                "expected integer labels, got " + labels.spec().to_string(),
                {{"got", labels.spec().to_string()}}};
  if (!num_classes && labels.size() == 0)
    throw Error{
        "one_hot", ErrorCode::invalid_argument, "no labels say how many classes there are", {}};
  const std::int64_t classes =
      num_classes ? *num_classes : reduce_max(as_type(labels, DType::s64)).item<std::int64_t>() + 1;
  if (classes < 1)
    throw Error{"one_hot",
                ErrorCode::invalid_parameter,
                "num_classes must be at least 1, got " + std::to_string(classes),
                {{"num_classes", std::to_string(classes)}}};
  const Tensor places = iota(Shape{classes}, DType::s64);
  return as_type(new_axis(as_type(labels, DType::s64), -1) == places, DType::f32);
}

}  // namespace stoker::nn
