#include "stoker/api/onnx/loops/open_loops.hpp"

namespace stoker::onnx {

OpenLoops::Loop& OpenLoops::innermost(LoopId id, std::size_t given) {
  if (open_.empty() || open_.back().id != id) {
    open_.push_back({.id = id});
    open_.back().given.resize(given);
  }
  return open_.back();
}

Tensor put_together_on(const Device& device, std::span<const GivenByRounds> rounds,
                       const CommandOptions& options) {
  const auto of_one = [](const GivenByRounds& given) {
    const TensorSpec& spec = given.tensor.spec();
    return given.is_single ? spec : TensorSpec{spec.dtype, spec.shape.without(0)};
  };
  const TensorSpec each = of_one(rounds[0]);
  std::vector<std::int64_t> extents{0};
  extents.insert(extents.end(), each.shape.begin(), each.shape.end());
  for (const GivenByRounds& given : rounds) {
    extents[0] += given.is_single ? 1 : given.tensor.shape()[0];
    const TensorSpec other = of_one(given);
    if (other != each)
      throw Error{"onnx.run",
                  other.shape != each.shape ? ErrorCode::shape_mismatch : ErrorCode::dtype_mismatch,
                  "the rounds of a loop give unlike tensors to be put together: " +
                      each.to_string() + " and " + other.to_string(),
                  {{"expected", each.to_string()}, {"came", other.to_string()}}};
  }
  const Buffer all = device.buffer(TensorSpec{each.dtype, Shape::make(extents, "onnx.run")});
  std::size_t offset = 0;
  if (all.size() > 0)
    for (const GivenByRounds& given : rounds) {
      if (given.tensor.bytes() == 0) continue;
      given.tensor.buffer(options).copy_to(all, 0, offset, given.tensor.bytes(), options);
      offset += given.tensor.bytes();
    }
  return Tensor{all};
}

}  // namespace stoker::onnx
