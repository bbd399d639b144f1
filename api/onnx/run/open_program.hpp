// The program of a segment, for whoever runs it on buffers of its own.
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
  /// One of the program's parameters.
  struct Source {
    std::size_t argument = 0;
    expr::Buffers captured = {};  ///< if it is none
  };
  std::shared_ptr<const expr::LoweredProgram> program;  ///< null: there is nothing to compute
  std::shared_ptr<DeviceClient> device;
  std::vector<Source> sources;

  /// What computes `extracted` of `parameters`: as the device has it ready, if it was prepared before.
  /// `may_choose_layouts` as for expr::prepare(). Throws what the device refuses.
  [[nodiscard]] static OpenProgram of(const expr::Extracted& extracted,
                                      std::span<const Tensor> parameters,
                                      std::shared_ptr<DeviceClient> device,
                                      bool may_choose_layouts);
  /// What a run reads, for evaluated tensors in the places of the parameters.
  [[nodiscard]] std::vector<expr::Buffers> leaves(std::span<const Tensor> arguments) const;
};

}  // namespace stoker::onnx
