// A model as the group `onnx` runs it: inputs are tensors that lie on the device, a run is waited for until its
// outputs are computed there.
//
// Threads: run() from any, also several at once. Errors are thrown: Error.
#pragma once

#include "stoker/api/onnx.hpp"
#include "stoker/api/system.hpp"
#include "stoker/bench/onnx/model_case.hpp"

namespace stoker::bench {

/// A tensor on the device; a scalar stays on the host, where a program would have it.
[[nodiscard]] onnx::Value placed(const Device& device, const onnx::TensorData& data);

/// Waits for every tensor among them.
void wait_for(const onnx::NamedValues& outputs);

class OurModel {
 public:
  /// `options` but for its device, which is `device`.
  OurModel(const Device& device, const ModelCase& from, const onnx::LoadOptions& options = {});

  /// From the call to its outputs.
  void run() const { wait_for(model_.run(inputs_).get()); }
  [[nodiscard]] const onnx::Model& model() const noexcept { return model_; }

 private:
  OurModel(const Device& device, const ModelCase& from, const onnx::LoadOptions& options,
           std::shared_ptr<const onnx::ModelFile> file);
  onnx::Model model_;
  onnx::NamedValues inputs_;
};

}  // namespace stoker::bench
