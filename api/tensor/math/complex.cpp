#include "stoker/api/tensor/math/complex.hpp"

#include "stoker/pipeline/tensor/complex/complex.hpp"

namespace stoker {
namespace {

/// As a float or complex.
expr::Value inexact(const TensorLike& x) { return x.as(expr::floating(x.dtype())); }

void check_real(const TensorLike& x) {
  if (is_complex(x.dtype()))
    throw Error{"complex",
                ErrorCode::dtype_mismatch,
                "the parts are real, got " + std::string{to_string(x.dtype())},
                {{"got", std::string{to_string(x.dtype())}}}};
}

}  // namespace

Tensor complex(const TensorLike& re, const TensorLike& im) {
  check_real(re);
  check_real(im);
  const DType part =
      component_of(expr::merged(expr::complexed(re.dtype()), expr::complexed(im.dtype())));
  const expr::Value a = re.as(part);
  const expr::Value b = im.as(part);
  const auto shape = broadcast(a.shape(), b.shape());
  if (!shape)
    throw Error{"complex",
                ErrorCode::shape_mismatch,
                "shape mismatch: lhs " + a.shape().to_string() + ", rhs " + b.shape().to_string(),
                {{"lhs", a.spec().to_string()}, {"rhs", b.spec().to_string()}}};
  return Tensor{expr::complex(expr::broadcast_to(a, *shape), expr::broadcast_to(b, *shape)),
                AxisNames::merged("complex", re.tensor().names(), a.shape().rank(),
                                  im.tensor().names(), b.shape().rank())};
}

Tensor real(const TensorLike& x) { return Tensor{expr::real(inexact(x)), x.tensor().names()}; }
Tensor imag(const TensorLike& x) { return Tensor{expr::imag(inexact(x)), x.tensor().names()}; }
Tensor conjugate(const TensorLike& x) {
  return Tensor{expr::conjugate(x.as(expr::complexed(x.dtype()))), x.tensor().names()};
}
Tensor phase(const TensorLike& x) { return Tensor{expr::phase(inexact(x)), x.tensor().names()}; }

Tensor view_as_real(const Tensor& x) { return Tensor{expr::view_as_real(x.value())}; }
Tensor view_as_complex(const Tensor& pairs) { return Tensor{expr::view_as_complex(pairs.value())}; }

}  // namespace stoker
