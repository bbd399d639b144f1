#include "graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/convolution.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/ordering.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/math/windows.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::fuzz {
namespace {

constexpr std::size_t most_elements = 2000;
constexpr std::size_t most_axes = 5;
constexpr std::size_t most_operations = 24;

/// One operation in the making: two operands, and what decides the rest.
struct Step {
  const Tensor& a;
  const Tensor& b;
  Decisions& decide;

  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(a.rank()); }
  [[nodiscard]] std::int64_t axis() const {
    return a.rank() == 0 ? 0 : static_cast<std::int64_t>(decide.below(a.rank()));
  }
  [[nodiscard]] Axes some_axes() const {
    Axes axes;
    for (std::int64_t i = 0; i < rank(); ++i)
      if (decide.flag()) axes.push_back(i);
    return axes;
  }
  [[nodiscard]] Reduce some_reduce() const {
    const bool keep = decide.flag();
    if (decide.below(4) == 0) return {std::nullopt, keep};
    return {some_axes(), keep};
  }
};
struct Operation {
  const char* name;
  Tensor (*make)(Step& step);
};

Tensor f32(const Tensor& x) { return as_type(x, DType::f32); }
/// A float as it is, anything else as f32.
Tensor as_real(const Tensor& x) { return is_float(x.dtype()) ? x : f32(x); }
/// Small integers again.
Tensor small(const Tensor& x) { return is_float(x.dtype()) ? clip(x, -8, 8) : remainder(x, 9); }
/// Weights of -2 to 2.
Tensor weights(const Shape& shape) {
  return f32(remainder(iota(shape, DType::s32) * 7 + 3, 5) - 2);
}
std::vector<std::int64_t> extents_of(const Tensor& x) {
  return {x.shape().begin(), x.shape().end()};
}

Tensor some_slice(Step& s) {
  Axes starts;
  Axes lengths;
  Axes strides;
  for (const std::int64_t extent : s.a.shape()) {
    lengths.push_back(s.decide.in(extent == 0 ? 0 : 1, extent));
    starts.push_back(s.decide.in(0, extent - lengths.back()));
    strides.push_back(s.decide.in(1, 3));
  }
  return slice(s.a, starts, lengths, strides);
}

Tensor some_transpose(Step& s) {
  Axes axes;
  for (std::int64_t i = 0; i < s.rank(); ++i)
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(s.decide.below(axes.size() + 1)), i);
  return transpose(s.a, axes);
}

Tensor some_reshape(Step& s) {
  auto left = static_cast<std::int64_t>(s.a.size());
  std::vector<std::int64_t> extents;
  for (std::size_t i = s.decide.below(4); i > 0 && left > 0; --i) {
    const std::int64_t divisor = s.decide.in(1, 8);
    if (left % divisor != 0) continue;
    extents.push_back(divisor);
    left /= divisor;
  }
  extents.push_back(left);
  return reshape(s.a, extents);
}

Tensor some_broadcast(Step& s) {
  std::vector<std::int64_t> extents = extents_of(s.a);
  for (std::int64_t& one : extents)
    if (one == 1) one = s.decide.in(1, 4);
  if (s.decide.flag()) extents.insert(extents.begin(), s.decide.in(1, 4));
  return broadcast(s.a, Shape::make(extents));
}

Tensor some_pad(Step& s) {
  std::vector<Padding> padding;
  for (std::int64_t i = 0; i < s.rank(); ++i)
    padding.push_back({s.decide.in(-1, 2), s.decide.in(-1, 2), s.decide.in(0, 2)});
  return pad(s.a, 2, padding);
}

Tensor some_matmul(Step& s) {
  if (s.rank() == 0) return s.a;
  const std::int64_t inner = s.a.shape()[s.a.rank() - 1];
  const std::int64_t columns = s.decide.in(1, 20);
  Tensor made = matmul(
      f32(s.a), s.decide.flag() ? weights({inner, columns}) : transpose(weights({columns, inner})));
  const std::uint8_t epilogue = s.decide.byte();
  if ((epilogue & 1U) != 0) made = made + f32(iota({columns}));
  if ((epilogue & 2U) != 0) made = relu(made);
  return remainder(made, 9);
}

Tensor some_window(Step& s) {
  Window window;
  Axes strides;
  for (const std::int64_t extent : s.a.shape()) {
    window.dimensions.push_back(
        s.decide.in(1, std::min<std::int64_t>(3, std::max<std::int64_t>(extent, 1))));
    strides.push_back(s.decide.in(1, 2));
  }
  window.strides = strides;
  return s.decide.flag() ? window_max(f32(s.a), window)
                         : remainder(window_sum(f32(s.a), window), 9);
}

Tensor some_convolution(Step& s) {
  if (s.rank() < 3) return s.a;
  std::vector<std::int64_t> extents{s.decide.in(1, 6), s.a.shape()[1]};
  for (std::int64_t i = 2; i < s.rank(); ++i) extents.push_back(s.decide.in(1, 3));
  ConvOptions options;
  if (s.decide.flag()) options.padding = PadRule::same;
  if (s.decide.flag()) options.strides = Axes(s.a.rank() - 2, 2);
  Tensor made = conv(f32(s.a), weights(Shape::make(extents)), options);
  if (s.decide.flag()) made = relu(made + 1);
  return remainder(made, 9);
}

Tensor some_put(Step& s) {
  Axes lengths;
  std::vector<std::int32_t> starts;
  for (const std::int64_t extent : s.a.shape()) {
    lengths.push_back(s.decide.in(extent == 0 ? 0 : 1, extent));
    starts.push_back(static_cast<std::int32_t>(s.decide.in(0, extent - lengths.back())));
  }
  const Tensor piece = small(slice(s.a, Axes(s.a.rank(), 0), lengths) + 1);
  return put_slice(s.a, tensor(starts), as_type(piece, s.a.dtype()));
}

Tensor some_cast(Step& s) { return as_type(s.a, static_cast<DType>(s.decide.below(dtype_count))); }

constexpr std::array exact_operations{
    Operation{"add", [](Step& s) { return s.a + s.b; }},
    Operation{"subtract", [](Step& s) { return s.a - s.b; }},
    Operation{"multiply", [](Step& s) { return s.a * s.b; }},
    Operation{"max", [](Step& s) { return max(s.a, s.b); }},
    Operation{"min", [](Step& s) { return min(s.a, s.b); }},
    Operation{"less", [](Step& s) { return s.a < s.b; }},
    Operation{"equal", [](Step& s) { return s.a == s.b; }},
    Operation{"select", [](Step& s) { return select(s.a > s.b, s.a, s.b); }},
    Operation{"add number", [](Step& s) { return s.a + s.decide.in(-3, 3); }},
    Operation{"multiply number", [](Step& s) { return s.a * s.decide.in(-3, 3); }},
    Operation{"negate", [](Step& s) { return negate(s.a); }},
    Operation{"abs", [](Step& s) { return abs(s.a); }},
    Operation{"sign", [](Step& s) { return sign(s.a); }},
    Operation{"relu", [](Step& s) { return relu(s.a); }},
    Operation{"logical_not", [](Step& s) { return logical_not(s.a); }},
    Operation{"cast", some_cast},
    Operation{"transpose", some_transpose},
    Operation{"slice", some_slice},
    Operation{"reverse", [](Step& s) { return reverse(s.a, s.some_axes()); }},
    Operation{"reshape", some_reshape},
    Operation{"broadcast", some_broadcast},
    Operation{"pad", some_pad},
    Operation{"put_slice", some_put},
    Operation{"sum", [](Step& s) { return remainder(sum(f32(s.a), s.some_reduce()), 9); }},
    Operation{"product of signs", [](Step& s) { return product(sign(f32(s.a)), s.some_reduce()); }},
    Operation{"reduce_max", [](Step& s) { return reduce_max(s.a, s.some_reduce()); }},
    Operation{"reduce_min", [](Step& s) { return reduce_min(s.a, s.some_reduce()); }},
    Operation{"any", [](Step& s) { return any(s.a, s.some_reduce()); }},
    Operation{"all", [](Step& s) { return all(s.a, s.some_reduce()); }},
    Operation{"argmax",
              [](Step& s) {
                const std::int64_t axis = s.axis();
                const bool keep = s.decide.flag();
                return argmax(s.a, {axis, keep, s.decide.flag() ? TieBreak::low : TieBreak::high});
              }},
    Operation{"matmul", some_matmul},
    Operation{"conv", some_convolution},
    Operation{"window", some_window},
    Operation{"concatenate",
              [](Step& s) {
                return concatenate({s.a, as_type(small(s.a + 1), s.a.dtype())}, s.axis());
              }},
    Operation{"stack",
              [](Step& s) {
                return stack({s.a, s.a}, s.axis());
              }},
    Operation{"take",
              [](Step& s) {
                const std::int64_t axis = s.axis();
                const Tensor places =
                    remainder(iota({s.decide.in(1, 6)}) * 5 + 2,
                              s.rank() == 0 ? 1 : s.a.shape()[static_cast<std::size_t>(axis)]);
                return take(s.a, places, axis);
              }},
    Operation{"sort",
              [](Step& s) {
                const std::int64_t axis = s.axis();
                return sort(s.a, axis,
                            s.decide.flag() ? Direction::ascending : Direction::descending);
              }},
    Operation{"argsort", [](Step& s) { return argsort(s.a, s.axis()); }},
    Operation{"cumulative_sum",
              [](Step& s) {
                const std::int64_t axis = s.axis();
                return remainder(cumulative_sum(f32(s.a), axis, s.decide.flag()), 9);
              }},
    Operation{"cumulative_max", [](Step& s) { return cumulative_max(s.a, s.axis()); }},
    Operation{"iota",
              [](Step& s) { return s.a + remainder(iota_along(s.a.shape(), s.axis()), 5); }},
};

constexpr std::array numbers{0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             0.5,
                             2.0,
                             3.25,
                             -7.75,
                             1e-40,
                             1e10,
                             88.5,
                             -1e-5,
                             255.0,
                             65520.0,
                             3e38,
                             2147483648.0,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
double number(Step& s) { return numbers[s.decide.below(numbers.size())]; }

constexpr std::array element_operations{
    Operation{"exp", [](Step& s) { return exp(s.a); }},
    Operation{"expm1", [](Step& s) { return expm1(s.a); }},
    Operation{"log", [](Step& s) { return log(s.a); }},
    Operation{"log1p", [](Step& s) { return log1p(s.a); }},
    Operation{"sigmoid", [](Step& s) { return sigmoid(s.a); }},
    Operation{"sqrt", [](Step& s) { return sqrt(s.a); }},
    Operation{"rsqrt", [](Step& s) { return rsqrt(s.a); }},
    Operation{"cbrt", [](Step& s) { return cbrt(s.a); }},
    Operation{"sin", [](Step& s) { return sin(s.a); }},
    Operation{"cos", [](Step& s) { return cos(s.a); }},
    Operation{"tanh", [](Step& s) { return tanh(s.a); }},
    Operation{"erf", [](Step& s) { return erf(s.a); }},
    Operation{"atan", [](Step& s) { return atan(s.a); }},
    Operation{"negate", [](Step& s) { return negate(s.a); }},
    Operation{"abs", [](Step& s) { return abs(s.a); }},
    Operation{"sign", [](Step& s) { return sign(s.a); }},
    Operation{"floor", [](Step& s) { return floor(s.a); }},
    Operation{"ceil", [](Step& s) { return ceil(s.a); }},
    Operation{"round", [](Step& s) { return round(s.a); }},
    Operation{"relu", [](Step& s) { return relu(s.a); }},
    Operation{"is_nan", [](Step& s) { return is_nan(s.a); }},
    Operation{"logical_not", [](Step& s) { return logical_not(s.a); }},
    Operation{"add", [](Step& s) { return s.a + s.b; }},
    Operation{"subtract", [](Step& s) { return s.a - s.b; }},
    Operation{"multiply", [](Step& s) { return s.a * s.b; }},
    Operation{"divide", [](Step& s) { return s.a / s.b; }},
    Operation{"add number", [](Step& s) { return s.a + number(s); }},
    Operation{"multiply number", [](Step& s) { return s.a * number(s); }},
    Operation{"number minus", [](Step& s) { return number(s) - s.a; }},
    Operation{"divide by number", [](Step& s) { return s.a / number(s); }},
    Operation{"max", [](Step& s) { return max(s.a, s.b); }},
    Operation{"min", [](Step& s) { return min(s.a, s.b); }},
    Operation{"max number", [](Step& s) { return max(s.a, number(s)); }},
    Operation{"clip", [](Step& s) { return clip(s.a, -2, number(s)); }},
    Operation{"select", [](Step& s) { return select(s.a < s.b, s.a, s.b); }},
    Operation{"equal", [](Step& s) { return s.a == s.b; }},
    Operation{"greater number", [](Step& s) { return s.a > number(s); }},
    Operation{"pow", [](Step& s) { return pow(as_real(s.a), as_real(s.b)); }},
    Operation{"square", [](Step& s) { return pow(s.a, 2); }},
    Operation{"remainder", [](Step& s) { return remainder(s.a, s.b); }},
    Operation{"atan2", [](Step& s) { return atan2(as_real(s.a), as_real(s.b)); }},
    Operation{"cast", some_cast},
    Operation{"to f16", [](Step& s) { return as_type(s.a, DType::f16); }},
    Operation{"to bf16", [](Step& s) { return as_type(s.a, DType::bf16); }},
    Operation{"to f32", [](Step& s) { return f32(s.a); }},
};

const Operation& chosen(bool exact, Decisions& decide) {
  return exact ? exact_operations[decide.below(exact_operations.size())]
               : element_operations[decide.below(element_operations.size())];
}

}  // namespace

Graph::Graph(Bytes bytes) {
  constexpr std::array extents{1, 2, 3, 4, 5, 7, 8, 17, 33, 0};
  constexpr std::array dtypes{DType::f32, DType::f32, DType::s32,
                              DType::u8,  DType::f16, DType::s64};
  Decisions decide{bytes};
  const std::uint8_t head = decide.byte();
  exact_ = (head & 1U) == 0;
  for (std::size_t i = 0; i <= head / 2 % 3; ++i) {
    const DType dtype = dtypes[decide.below(dtypes.size())];
    std::vector<std::int64_t> shape;
    const std::size_t rank = exact_ ? decide.below(5) : 1;
    for (std::size_t axis = 0; axis < rank; ++axis)
      shape.push_back(exact_ ? extents[decide.below(extents.size())] : 40);
    Shape made = Shape::make(shape);
    if (static_cast<std::size_t>(made.elements()) > most_elements) made = Shape{3};
    leaves_.push_back({exact_ ? dtype : DType::f32, made, decide.byte()});
  }
  operations_ = decide.rest();
}

std::vector<Tensor> Graph::leaves(std::size_t variant) const {
  std::vector<Tensor> made;
  for (const Leaf& leaf : leaves_) {
    std::vector<float> values(static_cast<std::size_t>(leaf.shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t mixed = (i + variant * 5 + 1) * (leaf.seed * 2U + 13U);
      if (exact_)
        values[i] = static_cast<float>(mixed / 3 % (is_signed(leaf.dtype) ? 17 : 9)) -
                    (is_signed(leaf.dtype) ? 8.0F : 0.0F);
      else if (mixed % 3 != 0)
        values[i] = static_cast<float>(numbers[mixed / 3 % numbers.size()]);
      else
        values[i] = std::ldexp(static_cast<float>(mixed * 7919 % 20011) - 10000.0F,
                               static_cast<int>(mixed % 40) - 30);
    }
    made.push_back(as_type(tensor(values, leaf.shape), leaf.dtype).eval());
  }
  return made;
}

std::vector<Tensor> Graph::apply(std::vector<Tensor> values, const Each& each) const {
  const std::size_t given = values.size();
  Decisions decide{operations_};
  while (!decide.empty() && values.size() < given + most_operations) {
    const Operation& operation = chosen(exact_, decide);
    const std::size_t a = values.size() - 1 - decide.below(std::min<std::size_t>(values.size(), 4));
    const std::size_t b = decide.below(values.size());
    Step step{values[a], values[b], decide};
    Tensor made = values[a];
    static_cast<void>(accepted([&] {
      Tensor tried = operation.make(step);
      // What an operation gives may be used as any other value.
      if (exact_) tried = small(tried);
      if (tried.size() <= most_elements && tried.rank() <= most_axes) made = tried;
    }));
    each(made);
    values.push_back(made);
  }
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(given));
  return values;
}

std::string Graph::text() const {
  std::string text;
  for (const Leaf& leaf : leaves_) text += TensorSpec{leaf.dtype, leaf.shape}.to_string() + "\n";
  return text + graph_text(apply(leaves()));
}

}  // namespace stoker::fuzz
