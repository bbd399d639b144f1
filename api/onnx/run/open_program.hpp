// The program of a segment, to run it on given buffers.
//
// A value; copies share the program. Threads: any.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"

namespace stoker::onnx {

struct OpenProgram {
  /// The source of one of the program's parameters.
  struct Source {
    std::size_t argument = 0;
    expr::Buffers captured = {};  ///< if it is no argument
  };
  std::shared_ptr<const expr::LoweredProgram> program;  ///< null: there is nothing to compute
  std::shared_ptr<DeviceClient> device;
  std::vector<Source> sources;

  /// The program that computes `extracted` from `parameters`; the device's own if it was prepared
  /// before. `may_choose_layouts` as for expr::prepare(). Throws the errors of the device.
  [[nodiscard]] static OpenProgram of(const expr::Extracted& extracted,
                                      std::span<const Tensor> parameters,
                                      std::shared_ptr<DeviceClient> device,
                                      bool may_choose_layouts);
  /// The buffers that a run reads, for evaluated tensors in place of the parameters.
  [[nodiscard]] std::vector<expr::Buffers> leaves(std::span<const Tensor> arguments) const;
};

}  // namespace stoker::onnx
