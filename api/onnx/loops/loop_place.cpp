#include "stoker/api/onnx/loops/loop_place.hpp"

#include "stoker/api/onnx/core/signature.hpp"

namespace stoker::onnx {

std::string LoopPlace::key(LoopId loop) const {
  std::string text = signature_of(states);
  add_number(loop.ordinal, text);
  add_number(together, text);
  add_number(has_key, text);
  for (const auto& [position, elements] : answers) {
    add_number(position, text);
    text += signature_of(Values{elements});
  }
  return text;
}

}  // namespace stoker::onnx
