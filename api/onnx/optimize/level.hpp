// How far a model is rewritten when it is loaded.
//
// A value; any thread.
#pragma once

#include <cstdint>

namespace stoker::onnx {

enum class Optimize : std::uint8_t {
  none,   ///< the graph as it was read
  basic,  ///< only what gives the same numbers to the bit
  all,    ///< also what rounds otherwise: numbers may differ as the dtype rounds
};

}  // namespace stoker::onnx
