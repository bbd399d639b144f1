// From a program to kernels: clusters become fused kernels, the rest one kernel each, and a pipeline
// runs them.
//
// Threads: lower() on any thread; what it makes is immutable and shared.
#pragma once

#include <memory>
#include <vector>

#include "stoker/kernels/fused/program.hpp"
#include "stoker/pipeline/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/program.hpp"

namespace stoker::expr {

/// A program that is ready to run on one device.
struct LoweredProgram {
  /// What is bound to an external value of the pipeline.
  struct External {
    bool result = false;
    std::uint32_t index = 0;   ///< of Program::parameters, or a position in `made`
    std::uint32_t output = 0;  ///< of the parameter's leaf
  };
  /// Where a result comes from.
  struct Result {
    bool made = false;  ///< else it is what a leaf holds already
    std::uint32_t index = 0;
    std::uint32_t output = 0;
  };
  std::shared_ptr<CompiledPipeline> pipeline;  ///< null: there is nothing to compute
  std::vector<External> externals;
  std::vector<TensorSpec> made;  ///< the buffers that a run fills
  std::vector<Result> results;   ///< one for each of the program's
};

/// `compile` makes the shaders of fused kernels, also later. Errors: what the kernels and the device
/// refuse.
[[nodiscard]] stoker::Result<std::shared_ptr<const LoweredProgram>> lower(
    const Program& program, const std::shared_ptr<DeviceClient>& device,
    const ShaderCompiler& compile);

}  // namespace stoker::expr
