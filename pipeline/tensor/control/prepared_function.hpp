// A traced function made ready for one device: what a branch or the body of a loop runs.
//
// Threads: immutable and shared; runs start on any thread.
#pragma once

#include "stoker/pipeline/tensor/graph/function.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"

namespace stoker::expr {

class PreparedFunction {
 public:
  /// Errors: what the kernels and the device refuse.
  [[nodiscard]] static Result<std::shared_ptr<const PreparedFunction>> make(
      const Function& function, const std::shared_ptr<DeviceClient>& device);

  /// Starts a run with a buffer for each parameter and returns those of the results.
  [[nodiscard]] Result<std::vector<DeviceBuffer>> run(const std::shared_ptr<DeviceClient>& device,
                                                      std::span<const DeviceBuffer> arguments,
                                                      const CommandOptions& options) const;

 private:
  std::shared_ptr<const LoweredProgram> program_;
  std::vector<std::size_t> arguments_;  ///< of each of the program's parameters: the function's
};

}  // namespace stoker::expr
