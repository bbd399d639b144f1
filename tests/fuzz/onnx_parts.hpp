// What the fuzzers of ONNX files ask of a tensor.
#pragma once

#include "fuzz.hpp"
#include "stoker/pipeline/onnx/graph/tensor_data.hpp"

namespace stoker::fuzz {

inline void check_tensor(const stoker::onnx::TensorData& tensor) {
  using namespace stoker::onnx;
  const std::size_t elements = tensor.elements();
  if (tensor.type == ElementType::string) {
    require(tensor.strings.size() == elements, "a tensor has a text for each element");
    return;
  }
  require(tensor.bytes.view.size() == byte_count(tensor.type, elements),
          "a tensor has the bytes of its elements");
  const SharedBytes carried = carried_bytes(tensor);
  require(carried.view.size() == elements * size_of(*carrier_of(tensor.type)),
          "a carrier has the bytes of its elements");
  TensorData again = tensor;
  again.bytes = SharedBytes::own(packed_bytes(tensor.type, carried.view));
  require(equal(carried_bytes(again).view, carried.view), "packing loses nothing");
}

}  // namespace stoker::fuzz
