// Which operators of ONNX's own domain compute in 16-bit floats with a reduced precision.
//
// The lists follow those of PyTorch's autocast (https://pytorch.org/docs/stable/amp.html, "CUDA Op-Specific Behavior")
// and of ONNX's converter (onnxconverter_common, DEFAULT_OP_BLOCK_LIST). Normalizations and Softmax differ: Stoker's
// rules and kernels for them compute in f32 whatever their operands are, so only operands and results are narrow.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stoker/device/device_info.hpp"
#include "stoker/pipeline/onnx/graph/node.hpp"

namespace stoker::onnx {

enum class Narrowing : std::uint8_t {
  gains,      ///< a product: its operands become narrow, where the device gains
  follows,    ///< it is narrow if all its operands are narrow or constant
  sensitive,  ///< its results need f32, for their range or because digits cancel
  other,      ///< it is only computed in f32
};

struct PrecisionRule {
  std::string_view op = {};
  Narrowing kind = Narrowing::other;
  /// A bit for each operand or result that is a float of the common type; the last bit stands for all further
  /// ones.
  std::uint16_t operands = 0xffff;
  std::uint16_t results = 1;
  std::int64_t since = 1;  ///< the first opset in which other operands may have another type

  [[nodiscard]] bool takes(std::size_t operand) const noexcept { return has(operands, operand); }
  [[nodiscard]] bool gives(std::size_t result) const noexcept { return has(results, result); }

 private:
  [[nodiscard]] static bool has(std::uint16_t bits, std::size_t at) noexcept {
    return ((bits >> (at < 15 ? at : 15)) & 1U) != 0;
  }
};

[[nodiscard]] PrecisionRule precision_rule(const Node& node);
/// Whether products gain by `dtype`: on GPUs that compute in it. The CPU's kernels convert their operands to f32.
[[nodiscard]] bool gains_on(const DeviceInfo& device, DType dtype) noexcept;

}  // namespace stoker::onnx
