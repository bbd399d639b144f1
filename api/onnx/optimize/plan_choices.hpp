// Choices of passes for the plans of a model, which its graph does not contain.
//
// A value; any thread.
#pragma once

namespace stoker::onnx {

struct PlanChoices {
  /// Whether images may have channels last, and weights may be put into blocks, where the device gains.
  bool layouts = false;
};

}  // namespace stoker::onnx
