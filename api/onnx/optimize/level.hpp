// How far a model is rewritten when it is loaded.
//
// A value; any thread.
#pragma once

#include <cstdint>

namespace stoker::onnx {

enum class Optimize : std::uint8_t {
  none,   ///< the graph as it was read
  basic,  ///< only rewrites that keep results the same to the bit
  all,    ///< also rewrites after which results may differ by rounding
};

}  // namespace stoker::onnx
