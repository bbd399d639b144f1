#include "stoker/api/onnx/loops/open_loops.hpp"

namespace stoker::onnx {

OpenLoops::Loop& OpenLoops::innermost(LoopId id, std::size_t given) {
  if (open_.empty() || open_.back().id != id) {
    open_.push_back({.id = id});
    open_.back().given.resize(given);
  }
  return open_.back();
}

Tensor stacked_on(const Device& device, std::span<const Tensor> tensors,
                  const CommandOptions& options) {
  const TensorSpec& each = tensors[0].spec();
  std::vector<std::int64_t> extents{static_cast<std::int64_t>(tensors.size())};
  extents.insert(extents.end(), each.shape.begin(), each.shape.end());
  for (const Tensor& tensor : tensors)
    if (tensor.spec() != each)
      throw Error{
          "onnx.run",
          tensor.shape() != each.shape ? ErrorCode::shape_mismatch : ErrorCode::dtype_mismatch,
          "the rounds of a loop give unlike tensors to be stacked: " + each.to_string() + " and " +
              tensor.spec().to_string(),
          {{"expected", each.to_string()}, {"came", tensor.spec().to_string()}}};
  const Buffer all = device.buffer(TensorSpec{each.dtype, Shape::make(extents, "onnx.run")});
  std::size_t offset = 0;
  if (each.bytes() > 0)
    for (const Tensor& tensor : tensors) {
      tensor.buffer(options).copy_to(all, 0, offset, each.bytes(), options);
      offset += each.bytes();
    }
  return Tensor{all};
}

}  // namespace stoker::onnx
