#include <cmath>

#include "stoker/pipeline/tensor/complex/complex_rules.hpp"

namespace stoker::expr::complex_rules {
namespace {

/// A complex value as its parts, which share one shape.
struct Parts {
  Value re, im;
};

Value of(const char* name, const Value& x) { return scalar(name, {x}); }
Value of(const char* name, const Value& a, const Value& b) { return scalar(name, {a, b}); }

Parts parts(const Value& x) { return {real(x), imag(x)}; }
Value joined(const Parts& z) { return complex(z.re, z.im); }

Parts operator*(const Parts& a, const Parts& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Parts operator+(const Parts& z, double by) { return {z.re + by, z.im}; }
Parts operator-(const Parts& z) { return {-z.re, -z.im}; }
Parts times_i(const Parts& z) { return {-z.im, z.re}; }
Parts times_minus_i(const Parts& z) { return {z.im, -z.re}; }
Parts chosen(const Value& condition, const Parts& yes, const Parts& no) {
  return {select(condition, yes.re, no.re), select(condition, yes.im, no.im)};
}

Value like(const Value& x, double number) { return constant(number, x.dtype()); }
Value is(const Value& x, double number) { return of("equal", x, like(x, number)); }
Value is_zero(const Parts& z) { return of("logical_and", is(z.re, 0), is(z.im, 0)); }

/// The larger part's size, or 1 where that says nothing, so that squares neither overflow nor vanish.
/// What is scaled by it is scaled back, so gradients need not pass. Of f32 at most 2^126, which leaves parts
/// below 4: division by more is undefined in SPIR-V (Vulkan's "Precision of Core SPIR-V Instructions").
Value scale_of(const Parts& z) {
  static constinit NamedOp stop{"stop_gradient"};
  const Value largest = of("max", of("abs", z.re), of("abs", z.im));
  const Value useless = of("logical_or", is(largest, 0), of("is_infinity", largest));
  const Value divisor =
      largest.dtype() == DType::f32 ? of("min", largest, like(largest, 0x1p126)) : largest;
  return apply_one(stop, {select(useless, like(largest, 1), divisor)});
}

Value magnitude(const Parts& z) {
  const Value scale = scale_of(z);
  const Value re = z.re / scale;
  const Value im = z.im / scale;
  const Value square = re * re + im * im;
  // The root has no slope at 0; |z| shall have the slope 0 there.
  const Value zero = is(square, 0);
  const Value root = of("sqrt", select(zero, like(square, 1), square));
  return select(zero, like(square, 0), root * scale);
}

/// The scale of a large divisor comes off first, that of a small one last: neither leaves the range before
/// the quotient does.
Parts operator/(const Parts& a, const Parts& b) {
  const Value scale = scale_of(b);
  const Parts divisor{b.re / scale, b.im / scale};
  const Value square = divisor.re * divisor.re + divisor.im * divisor.im;
  const Value large = of("greater", scale, like(scale, 1));
  const Value first = select(large, scale, like(scale, 1));
  const Value last = select(large, like(scale, 1), scale);
  const Parts product = Parts{a.re / first, a.im / first} * Parts{divisor.re, -divisor.im};
  return {product.re / square / last, product.im / square / last};
}

Parts one_like(const Parts& z) { return {ones_like(z.re), zeros_like(z.im)}; }

Parts exp(const Parts& z) {
  const Value size = of("exp", z.re);
  return {size * of("cos", z.im), size * of("sin", z.im)};
}

/// ln |z|. Near |z| = 1 of |z|² - 1 = (a - 1)(a + 1) + b², a the larger part's size: nothing cancels where
/// the angle is small, too. b keeps its sign, since abs() has no slope on the axes, where slopes have one.
Value log_magnitude(const Parts& z) {
  const Value re = of("abs", z.re);
  const Value im = of("abs", z.im);
  const Value lies = of("greater_equal", re, im);
  const Value a = select(lies, re, im);
  const Value b = select(lies, z.im, z.re);
  const Value near = of("logical_and", of("greater", a, like(a, 0.5)), of("less", a, like(a, 2)));
  const Value beside = select(near, (a - 1.0) * (a + 1.0) + b * b, like(a, 0));
  const Value size = magnitude(chosen(near, one_like(z), z));
  return select(near, of("log1p", beside) * 0.5, of("log", size));
}

Parts log(const Parts& z) { return {log_magnitude(z), of("atan2", z.im, z.re)}; }

/// The root in the right half-plane. Adding what has one sign only loses nothing. Signs are factors, since
/// abs() has no slope on the axes, where roots have one.
Parts sqrt(const Parts& z) {
  const Value zero = is_zero(z);
  const Parts safe = chosen(zero, one_like(z), z);
  const Value right = of("greater_equal", safe.re, like(safe.re, 0));
  const Value along = select(right, safe.re, -safe.re);
  const Value size = magnitude(safe);
  // Large numbers are halved before they are added, small ones afterwards.
  const Value large = of("greater", size, like(size, 1));
  const Value half = of("sqrt", select(large, along * 0.5 + size * 0.5, (along + size) * 0.5));
  const Value other = safe.im / (half * 2.0);
  // The inverse of 0 tells -0 from 0, which lie on different sides of the cut; that of others may vanish.
  const Value side = select(is(safe.im, 0), like(safe.im, 1) / safe.im, safe.im);
  const Value below = of("less", side, like(side, 0));
  const Parts root =
      chosen(right, {half, other}, {select(below, -other, other), select(below, -half, half)});
  const Value none = zeros_like(z.re);
  return chosen(zero, {none, none}, root);
}

Parts sinh(const Parts& z) {
  return {of("sinh", z.re) * of("cos", z.im), of("cosh", z.re) * of("sin", z.im)};
}
Parts cosh(const Parts& z) {
  return {of("cosh", z.re) * of("cos", z.im), of("sinh", z.re) * of("sin", z.im)};
}
/// With t = tanh(re) and v = tan(im): nothing grows beyond the range.
Parts tanh(const Parts& z) {
  const Value t = of("tanh", z.re);
  const Value v = of("tan", z.im);
  const Value below = t * t * v * v + 1.0;
  return {t * (v * v + 1.0) / below, v * (1.0 - t * t) / below};
}
Parts sin(const Parts& z) { return times_minus_i(sinh(times_i(z))); }
Parts cos(const Parts& z) { return cosh(times_i(z)); }
Parts tan(const Parts& z) { return times_minus_i(tanh(times_i(z))); }
// Kahan's formulas: sums of what has one sign only, so that neither part is lost beside the other, and no
// number leaves the range before its result does.
Parts asin(const Parts& z) {
  const Parts below = sqrt(-z + 1.0);
  const Parts above = sqrt(z + 1.0);
  return {of("atan2", z.re, below.re * above.re - below.im * above.im),
          of("asinh", below.re * above.im - below.im * above.re)};
}
Parts acos(const Parts& z) {
  const Parts below = sqrt(-z + 1.0);
  const Parts above = sqrt(z + 1.0);
  return {of("atan2", below.re, above.re) * 2.0,
          of("asinh", above.re * below.im - above.im * below.re)};
}
Parts acosh(const Parts& z) {
  const Parts below = sqrt(z + -1.0);
  const Parts above = sqrt(z + 1.0);
  return {of("asinh", below.re * above.re + below.im * above.im),
          of("atan2", below.im, above.re) * 2.0};
}
/// Odd: right of 0, then turned round.
Parts atanh(const Parts& z) {
  const Value left = of("less", z.re, like(z.re, 0));
  const Parts w = chosen(left, -z, z);
  const Value below = 1.0 - w.re;
  const Value far = magnitude({below, w.im});  // from the pole
  // Beside it the quotient leaves the range, and 1 says nothing.
  const Value beside = of("less", far, like(far, far.dtype() == DType::f64 ? 0x1p-30 : 0x1p-14));
  const Value one = ones_like(far);
  const Value near =
      of("log", select(beside, w.re, one) * 4.0) - of("log", select(beside, far, one)) * 2.0;
  const Value apart = select(beside, one, far);
  const Value quarter = apart * 0.25;  // see scale_of()
  const Value log = select(beside, near, of("log1p", w.re / quarter / quarter * 0.25));
  const Parts right{log * 0.25,
                    of("atan2", w.im, (below * (w.re + 1.0) - w.im * w.im) * 0.5) * 0.5};
  return chosen(left, -right, right);
}
Parts asinh(const Parts& z) { return times_minus_i(asin(times_i(z))); }
Parts atan(const Parts& z) { return times_minus_i(atanh(times_i(z))); }

Parts expm1(const Parts& z) {
  const Value half = of("sin", z.im * 0.5);
  return {of("expm1", z.re) * of("cos", z.im) - half * half * 2.0,
          of("exp", z.re) * of("sin", z.im)};
}
Parts log1p(const Parts& z) {
  const Parts whole = z + 1.0;
  const Value half = like(z.re, 0.5);
  const Value near =
      of("logical_and", of("less", of("abs", z.re), half), of("less", of("abs", z.im), half));
  // |1 + z|² = 1 + re·(2 + re) + im²
  const Value beside = select(near, z.re * (z.re + 2.0) + z.im * z.im, like(z.re, 0));
  const Value size = log_magnitude(chosen(near, one_like(z), whole));
  return {select(near, of("log1p", beside) * 0.5, size), of("atan2", whole.im, whole.re)};
}
Parts reciprocal(const Parts& z) { return one_like(z) / z; }
Parts rsqrt(const Parts& z) { return reciprocal(sqrt(z)); }
/// Of an exponential that does not grow.
Parts sigmoid(const Parts& z) {
  const Value left = of("less", z.re, like(z.re, 0));
  const Parts e = exp(chosen(left, z, -z));
  return chosen(left, e, one_like(z)) / (e + 1.0);
}

/// The number that a value holds everywhere, if complex_constant() made it.
std::optional<std::complex<double>> number_of(const Value& x) {
  const auto below = [](const Value& value, const char* name) -> Values {
    return value.node()->op().name == name ? value.node()->inputs() : Values{};
  };
  const Values pairs = below(x, "view_as_complex");
  const Values both = pairs.empty() ? Values{} : below(pairs[0], "concatenate");
  if (both.size() != 2) return std::nullopt;
  std::array<double, 2> numbers{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Values raised = below(both[i], "reshape");
    const auto number = constant_of(raised.empty() ? both[i] : raised[0]);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  return std::complex<double>{numbers[0], numbers[1]};
}

/// By squaring.
Parts whole_power(const Parts& z, int n) {
  Parts result = one_like(z);
  Parts square = z;
  for (int rest = std::abs(n); rest > 0; rest /= 2) {
    if (rest % 2 == 1) result = rest == std::abs(n) ? square : result * square;
    if (rest > 1) square = square * square;
  }
  return n < 0 ? reciprocal(result) : result;
}

Value pow(const Call& call) {
  const Parts z = parts(call.x(0));
  const auto exponent = number_of(call.x(1));
  if (exponent && call.x(1).shape().rank() == 0 && exponent->imag() == 0 &&
      std::abs(exponent->real()) <= 16 && std::trunc(exponent->real()) == exponent->real())
    return joined(whole_power(z, static_cast<int>(exponent->real())));
  const Parts by = parts(call.x(1));
  const Value zero = is_zero(z);
  const Parts power = exp(by * log(chosen(zero, one_like(z), z)));
  // 0 to the power of 0 is 1, to any other 0.
  const Value at_zero = select(is_zero(by), like(power.re, 1), like(power.re, 0));
  return joined({select(zero, at_zero, power.re), select(zero, like(power.im, 0), power.im)});
}

Value cast(const Call& call) {
  const DType to = *parse_dtype(call.attributes.text("dtype"));
  const Value& x = call.x();
  if (!is_complex(to)) return expr::cast(real(x), to);
  if (is_complex(x.dtype())) return view_as_complex(expr::cast(view_as_real(x), component_of(to)));
  const Value re = expr::cast(x, component_of(to));
  return complex(re, zeros_like(re));
}

/// Whether it was put together of parts that need not be stored.
bool is_apart(const Value& x) {
  if (x.node()->op().name != "view_as_complex" || x.buffer()) return false;
  const Values pairs = x.node()->inputs();
  return !pairs.empty() && pairs[0].node()->op().name == "concatenate";
}

/// A function that does the same to both parts: on stored numbers in one sweep over the pairs, on
/// others part by part, which fuses.
Value alike(const Call& call) {
  const bool is_select = call.inputs.size() == 3;
  bool apart = false;
  for (const Value& input : call.inputs) apart |= is_apart(input);
  const auto by_part = [&](Value (*part)(const Value&)) {
    Values inputs;
    for (const Value& input : call.inputs)
      inputs.push_back(is_complex(input.dtype()) ? part(input) : input);
    return apply_one(call.op, std::move(inputs));
  };
  if (apart) return complex(by_part(&real), by_part(&imag));
  Values inputs;
  for (const Value& input : call.inputs)
    if (is_complex(input.dtype()))
      inputs.push_back(view_as_real(input));
    else if (is_select)  // the condition, for both parts
      inputs.push_back(reshape(input, [&] {
        std::vector<std::int64_t> extents(input.shape().begin(), input.shape().end());
        extents.push_back(1);
        return Shape::make(extents, "select");
      }()));
    else
      inputs.push_back(input);
  return view_as_complex(apply_one(call.op, std::move(inputs)));
}

/// True where it holds for both parts, or for either.
Rule truth(const char* both) {
  return [both](const Call& call) {
    const auto by_part = [&](Value (*part)(const Value&)) {
      Values inputs;
      for (const Value& input : call.inputs) inputs.push_back(part(input));
      return apply_one(call.op, std::move(inputs));
    };
    return of(both, by_part(&real), by_part(&imag));
  };
}

Rule unary(Parts (*function)(const Parts&)) {
  return [function](const Call& call) { return joined(function(parts(call.x()))); };
}
Rule binary(Parts (*function)(const Parts&, const Parts&)) {
  return
      [function](const Call& call) { return joined(function(parts(call.x(0)), parts(call.x(1)))); };
}

/// What real operands are held to, too: of one dtype.
Rule checked(Rule rule, std::size_t first = 0) {
  return [rule = std::move(rule), first](const Call& call) {
    for (std::size_t i = first + 1; i < call.inputs.size(); ++i)
      if (call.x(i).dtype() != call.x(first).dtype())
        throw Error{
            call.op.name,
            ErrorCode::dtype_mismatch,
            "dtype mismatch: lhs " + call.x(first).spec().to_string() + ", rhs " +
                call.x(i).spec().to_string(),
            {{"lhs", call.x(first).spec().to_string()}, {"rhs", call.x(i).spec().to_string()}}};
    return rule(call);
  };
}

}  // namespace

void add_functions(Rules& rules) {
  for (const char* name : {"add", "subtract", "negate"}) rules[name] = checked(&alike);
  rules["select"] = checked(&alike, 1);
  rules["multiply"] = checked(binary(&operator*));
  rules["divide"] = checked(binary(&operator/));
  rules["pow"] = checked(&pow);
  rules["equal"] = checked(truth("logical_and"));
  rules["not_equal"] = checked(truth("logical_or"));
  rules["is_nan"] = truth("logical_or");
  rules["is_infinity"] = truth("logical_or");
  rules["abs"] = [](const Call& call) { return magnitude(parts(call.x())); };
  rules["cast"] = &cast;
  const std::pair<const char*, Parts (*)(const Parts&)> functions[] = {
      {"exp", &exp},     {"expm1", &expm1}, {"log", &log},         {"log1p", &log1p},
      {"sqrt", &sqrt},   {"rsqrt", &rsqrt}, {"sigmoid", &sigmoid}, {"sin", &sin},
      {"cos", &cos},     {"tan", &tan},     {"asin", &asin},       {"acos", &acos},
      {"atan", &atan},   {"sinh", &sinh},   {"cosh", &cosh},       {"tanh", &tanh},
      {"asinh", &asinh}, {"acosh", &acosh}, {"atanh", &atanh}};
  for (const auto& [name, function] : functions) rules[name] = unary(function);
}

}  // namespace stoker::expr::complex_rules
