// A value outside of a graph, as the files of test cases hold them: a tensor, or a list, an optional or a map of
// values.
//
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/pipeline/onnx/graph/tensor_data.hpp"

namespace stoker::onnx {

struct ValueData;

struct SequenceValue {
  std::vector<ValueData> elements;
};
/// None or one.
struct OptionalValue {
  std::vector<ValueData> element;
};
struct MapValue {
  std::vector<std::variant<std::int64_t, std::string>> keys;
  std::vector<ValueData> values;  ///< as many
};

struct ValueData {
  std::string name;  ///< may be empty
  std::variant<TensorData, SequenceValue, OptionalValue, MapValue> content;
};

}  // namespace stoker::onnx
