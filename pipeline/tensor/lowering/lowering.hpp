// From a program to steps that run: clusters become fused kernels, the rest one kernel each, pipelines
// run them; between pipelines stands what the host drives.
//
// Threads: lower() on any thread; what it makes is immutable and shared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/kernels/fused/program.hpp"
#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker {
class CompiledPipeline;
class DeviceClient;
}  // namespace stoker

namespace stoker::expr {

/// A program that is ready to run on one device.
struct LoweredProgram {
  /// The buffer of a value in a run.
  struct Slot {
    bool made = false;         ///< the run makes it; else a leaf holds it
    std::uint32_t index = 0;   ///< a position in `made`, or of Program::parameters
    std::uint32_t output = 0;  ///< of the parameter's leaf
  };
  /// A pipeline, or what the host drives.
  struct Step {
    std::shared_ptr<CompiledPipeline> pipeline;
    std::shared_ptr<const HostStep> host;  ///< if there is no pipeline
    std::vector<Slot> slots;               ///< the pipeline's externals, or the host's inputs
    std::vector<Slot> outputs;             ///< the host's
    /// Of each stage of the pipeline's graph, or of the host's work: the origins of the instructions that
    /// it computes (Instruction::origin).
    std::vector<std::vector<std::uint32_t>> origins;
  };
  std::vector<Step> steps;       ///< in order; none: there is nothing to compute
  std::vector<TensorSpec> made;  ///< the buffers that a run makes
  std::vector<Slot> results;     ///< one for each of the program's

  /// For people: the kernels of each pipeline in their order with what they read and write, its memory,
  /// and the host's steps between.
  [[nodiscard]] std::string to_text() const;
};

/// `compile` makes the shaders of fused kernels, also later. Kernels that the device lacks run on its
/// stand-in (DeviceClient::fallback_device()). Errors: what the kernels and the device refuse; `refused`,
/// if it is given, then is the origin of what could not be made.
[[nodiscard]] Result<std::shared_ptr<const LoweredProgram>> lower(
    const Program& program, const std::shared_ptr<DeviceClient>& device,
    const ShaderCompiler& compile, std::uint32_t* refused = nullptr);

}  // namespace stoker::expr
