#include "stoker/api/nn/functional/class_index.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {

Shape rows_of(const Shape& shape) {
  Shape rows;
  for (std::size_t axis = 0; axis + 1 < shape.rank(); ++axis) rows = rows.appended(shape[axis]);
  return rows;
}

Tensor class_index(std::string_view op, const Tensor& target, const Tensor& prediction) {
  const Shape rows = rows_of(prediction.shape());
  if (target.shape() != rows && target.shape() != rows.appended(1))
    throw Error{
        std::string{op},
        ErrorCode::shape_mismatch,
        "expected a target of shape " + prediction.shape().to_string() +
            ", or indices of classes of shape " + rows.to_string() + ", got " +
            target.shape().to_string(),
        {{"target", target.shape().to_string()}, {"prediction", prediction.shape().to_string()}}};
  if (!is_integer(target.dtype()))
    throw Error{std::string{op},
                ErrorCode::dtype_mismatch,
                "indices of classes: expected integers, got " + target.spec().to_string(),
                {{"target", target.spec().to_string()}}};
  const bool large =
      target.dtype() == DType::u32 || target.dtype() == DType::u64 || target.dtype() == DType::s64;
  return as_type(reshape(target, rows), large ? DType::s64 : DType::s32);
}

Tensor is_class(const Tensor& index, std::int64_t classes) {
  return logical_and(greater_equal(index, 0), less(index, classes));
}

}  // namespace stoker::nn
