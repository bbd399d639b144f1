// What passes choose for the plans of a model, of which its graph says nothing.
//
// A value; any thread.
#pragma once

namespace stoker::onnx {

struct PlanChoices {
  /// Whether images may have channels last, and weights be put into blocks, where the device gains by that.
  bool layouts = false;
};

}  // namespace stoker::onnx
