// A model that gives back its only input at once, so that only what is around it is measured.
//
// Immutable; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/model/core/model.hpp"

namespace stoker::bench {

class EchoBackend final : public models::Backend {
 public:
  /// The input is of f32.
  EchoBackend(Device device, std::string input, std::vector<onnx::Dimension> dims)
      : device_{std::move(device)} {
    onnx::ValueInfo& only = values_.emplace_back();
    only.name = std::move(input);
    only.type.kind = onnx::ValueKind::tensor;
    only.type.element = onnx::ElementType::f32;
    only.type.dims = std::move(dims);
  }
  const std::vector<onnx::ValueInfo>& inputs() const noexcept override { return values_; }
  const std::vector<onnx::ValueInfo>& outputs() const noexcept override { return values_; }
  bool may_lack(const onnx::ValueInfo&) const override { return false; }
  const Device& device() const noexcept override { return device_; }
  AnyModelInfo info() const override { return {}; }
  Future<NamedValues> predict(const NamedValues& inputs, const PredictOptions&) const override {
    return make_ready_future<NamedValues>(inputs);
  }

 private:
  const Device device_;
  std::vector<onnx::ValueInfo> values_;
};

}  // namespace stoker::bench
