// Fourier transforms of pairs: real and imaginary parts along the last axis, elements along the one
// before. Both matrices are symmetric, so a gradient goes back through the conjugate one, which is the
// other transform but for a factor.
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::fft {
namespace {

double length_of(const Value& pairs) {
  return static_cast<double>(pairs.shape()[pairs.shape().rank() - 2]);
}

Values of_fft(const Backward& b) {
  static constinit NamedOp inverse{"ifft"};
  return {apply_one(inverse, {b.g()}) * length_of(b.g())};
}

Values of_ifft(const Backward& b) {
  static constinit NamedOp forward{"fft"};
  return {apply_one(forward, {b.g()}) / length_of(b.g())};
}

}  // namespace

void define(OpTable& table) {
  table.add(kernel_op("fft", "fft", &of_fft));
  table.add(kernel_op("ifft", "ifft", &of_ifft));
}

}  // namespace stoker::expr::ops::fft
