#include "stoker/pipeline/tensor/complex/complex.hpp"

#include <algorithm>

#include "stoker/pipeline/tensor/complex/complex_rules.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::expr {
namespace {

/// Part 0 or 1 of the pairs, without their axis.
Value part(const Value& x, std::int64_t which) {
  const Value pairs = view_as_real(x);
  const Shape& shape = pairs.shape();
  std::vector<std::int64_t> starts(shape.rank(), 0);
  std::vector<std::int64_t> lengths(shape.begin(), shape.end());
  starts.back() = which;
  lengths.back() = 1;
  return reshape(slice(pairs, starts, lengths, std::vector<std::int64_t>(shape.rank(), 1)),
                 x.shape());
}

/// With an axis of extent 1 behind the others.
Value raised(const Value& x) {
  std::vector<std::int64_t> extents(x.shape().begin(), x.shape().end());
  extents.push_back(1);
  return reshape(x, Shape::make(extents, "complex"));
}

const complex_rules::Rules& rules() {
  static constinit NeverDestroyed<complex_rules::Rules> rules;
  return rules.get([] {
    complex_rules::Rules made;
    complex_rules::add_functions(made);
    complex_rules::add_structure(made);
    return made;
  });
}

bool takes_values_as_they_are(const Op& op) {
  switch (op.kind) {
    case OpKind::known:
    case OpKind::parameter:
    case OpKind::constant:
    case OpKind::index:
    case OpKind::host: return true;
    default: break;
  }
  return op.name == "view_as_real" || op.name == "view_as_complex" || op.name == "variable" ||
         op.name == "stop_gradient";
}

}  // namespace

bool takes_parts(const Op& op, std::span<const Value> inputs, const Attributes& attributes) {
  static constinit NamedOp cast{"cast"};
  const bool any =
      std::ranges::any_of(inputs, [](const Value& x) { return is_complex(x.dtype()); });
  if (any) return !takes_values_as_they_are(op);
  return &op == &cast.get() && attributes.text("dtype").front() == 'c';
}

Values apply_to_parts(const Op& op, const Values& inputs, const Attributes& attributes) {
  const auto rule = rules().find(op.name);
  if (rule != rules().end()) return {rule->second({op, inputs, attributes})};
  const auto complex =
      std::ranges::find_if(inputs, [](const Value& x) { return is_complex(x.dtype()); });
  throw Error{op.name,
              ErrorCode::dtype_mismatch,
              "expected a real dtype, got " + complex->spec().to_string(),
              {{"expected", "a real dtype"}, {"got", complex->spec().to_string()}}};
}

Value view_as_real(const Value& x) {
  static constinit NamedOp op{"view_as_real"};
  return apply_one(op, {x});
}

Value view_as_complex(const Value& pairs) {
  static constinit NamedOp op{"view_as_complex"};
  return apply_one(op, {pairs});
}

Value complex(const Value& re, const Value& im) {
  const std::array<Value, 2> parts{raised(re), raised(im)};
  return view_as_complex(concatenate(parts, static_cast<std::int64_t>(re.shape().rank())));
}

Value complex_constant(std::complex<double> number, DType dtype, const Shape& shape) {
  const DType part = component_of(dtype);
  return complex(constant(number.real(), part, shape), constant(number.imag(), part, shape));
}

Value real(const Value& x) { return is_complex(x.dtype()) ? part(x, 0) : x; }
Value imag(const Value& x) { return is_complex(x.dtype()) ? part(x, 1) : zeros_like(x); }
Value conjugate(const Value& x) { return complex(real(x), -imag(x)); }
Value phase(const Value& x) { return scalar("atan2", {imag(x), real(x)}); }

}  // namespace stoker::expr
