// Models that only declare, for tests of the protocol.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/model/core/model.hpp"

namespace stoker::serve::protocol {

using onnx::ElementType;

/// A dimension below 0 is free. Without dimensions the tensor may have any rank.
inline onnx::ValueInfo tensor_info(std::string name, ElementType type,
                                   std::optional<std::vector<std::int64_t>> dims) {
  onnx::ValueInfo info;
  info.name = std::move(name);
  info.type.kind = onnx::ValueKind::tensor;
  info.type.element = type;
  if (!dims) return info;
  info.type.dims.emplace();
  info.type.dims->reserve(dims->size());
  for (const std::int64_t extent : *dims)
    info.type.dims->push_back(
        {.extent = extent < 0 ? std::nullopt : std::optional{extent}, .symbol = {}});
  return info;
}

/// What a model declares. It is never run.
class DeclaredModel final : public models::Backend {
 public:
  DeclaredModel(Device device, std::vector<onnx::ValueInfo> inputs,
                std::vector<onnx::ValueInfo> outputs)
      : device_{std::move(device)}, inputs_{std::move(inputs)}, outputs_{std::move(outputs)} {}
  const std::vector<onnx::ValueInfo>& inputs() const noexcept override { return inputs_; }
  const std::vector<onnx::ValueInfo>& outputs() const noexcept override { return outputs_; }
  bool may_lack(const onnx::ValueInfo& input) const override {
    return input.name.starts_with("optional");
  }
  const Device& device() const noexcept override { return device_; }
  AnyModelInfo info() const override { return {}; }
  Future<NamedValues> predict(const NamedValues&, const PredictOptions&) const override {
    throw Error{"test", ErrorCode::unsupported, "it only declares"};
  }

 private:
  const Device device_;
  const std::vector<onnx::ValueInfo> inputs_;
  const std::vector<onnx::ValueInfo> outputs_;
};

}  // namespace stoker::serve::protocol
