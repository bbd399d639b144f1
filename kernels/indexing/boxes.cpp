#include "stoker/kernels/indexing/boxes.hpp"

#include "stoker/kernels/rules.hpp"

namespace stoker::indexing {

Result<std::vector<TensorSpec>> bins_of_boxes(const char* op, const KernelCall& call,
                                              std::int64_t height, std::int64_t width) {
  const Shape& x = call.shape(0);
  const Shape& boxes = call.shape(1);
  if (call.dtype(1) != call.dtype())
    return rules::dtypes_differ(op, call.inputs[0], call.inputs[1]);
  if (call.dtype(2) != DType::s32)
    return Error{op,
                 ErrorCode::dtype_mismatch,
                 "the image of each box is s32, came " + call.inputs[2].to_string(),
                 {{"images", call.inputs[2].to_string()}}};
  if (x.rank() != 4 || boxes.rank() != 2 || boxes[1] != 4 || call.shape(2) != Shape{boxes[0]})
    return Error{op,
                 ErrorCode::shape_mismatch,
                 "expected images [n, channels, rows, columns], boxes [k, 4] and their images [k]",
                 {{"input", x.to_string()},
                  {"boxes", boxes.to_string()},
                  {"images", call.shape(2).to_string()}}};
  const std::int64_t extents[] = {boxes[0], x[1], height, width};
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, op));
  if (!shape.empty() && x.empty())
    return Error{op,
                 ErrorCode::shape_mismatch,
                 "images without a pixel, and boxes in them",
                 {{"input", x.to_string()}, {"boxes", boxes.to_string()}}};
  return std::vector{TensorSpec{call.dtype(), shape}};
}

}  // namespace stoker::indexing
