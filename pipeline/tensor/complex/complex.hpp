// Operations on complex numbers, made of operations on their parts.
//
// Memory holds complex numbers (c64, c128); kernels see pairs of floats. An operation that meets a
// complex operand becomes, in apply(), others on pairs or parts, between the two views of ops/complex.cpp:
// no kernel computes with complex numbers, and gradients follow from those of real operations. A
// gradient is dL/dre + i·dL/dim, so that of |z| is z/|z|, and x - rate·gradient descends.
//
// Formulas: W. Kahan, "Branch cuts for complex elementary functions", 1987, for the principal values;
// Abramowitz and Stegun, chapter 4, for the rest. NaN and infinities follow from the formulas, not from
// C99's annex G.
//
// Threads: any. Errors: dtype_mismatch where an operation has no complex meaning.
#pragma once

#include <complex>

#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/graph/promotion.hpp"

namespace stoker::expr {

/// Whether an operation is made of others on parts: an operand or the target of a cast is complex, and
/// it is neither a leaf, an identity nor work of the host, which all take values as they are.
[[nodiscard]] bool takes_parts(const Op& op, std::span<const Value> inputs,
                               const Attributes& attributes);
/// Asks for those others. Throws dtype_mismatch, naming the operation, if there are none.
[[nodiscard]] Values apply_to_parts(const Op& op, const Values& inputs,
                                    const Attributes& attributes);

/// c64[…] as f32[…,2], c128 as f64; and back. The memory stays.
[[nodiscard]] Value view_as_real(const Value& x);
[[nodiscard]] Value view_as_complex(const Value& pairs);

/// Of floats f32 or f64 of one shape.
[[nodiscard]] Value complex(const Value& re, const Value& im);
/// One complex number in a shape.
[[nodiscard]] Value complex_constant(std::complex<double> number, DType dtype,
                                     const Shape& shape = {});
/// The parts. Of a real value: itself, and zeros.
[[nodiscard]] Value real(const Value& x);
[[nodiscard]] Value imag(const Value& x);
[[nodiscard]] Value conjugate(const Value& x);
/// The angle in (-π, π].
[[nodiscard]] Value phase(const Value& x);

}  // namespace stoker::expr
