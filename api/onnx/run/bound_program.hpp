// The program of a binding, with a buffer for everything that it reads and writes.
//
// A host step may read its operands only after later commands on the same buffers have run. So in each run a
// program with host steps gets copies of the inputs and its own memory, and its results are copied to the outputs.
//
// Immutable; any thread. Errors are thrown: those that binding.hpp lists.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "stoker/api/onnx/run/binding.hpp"
#include "stoker/api/onnx/run/open_program.hpp"
#include "stoker/api/onnx/run/plans.hpp"

namespace stoker::onnx {

class BoundProgram {
 public:
  /// `last`: the only segment; `program`: its program; `arguments`: the tensors that it was traced for; `names`: the
  /// names of its outputs. Outputs that are not in `outputs` get new buffers. `drawn_key`: the argument that gets a
  /// new random key before each run; empty: none.
  BoundProgram(OpenProgram program, const Segment& last, std::span<const Tensor> arguments,
               std::span<const std::string> names, const NamedBuffers& outputs, Buffer drawn_key);

  [[nodiscard]] Future<> run(const CommandOptions& options) const;
  [[nodiscard]] const NamedBuffers& outputs() const noexcept { return outputs_; }

 private:
  /// `read`: the buffers that a run reads.
  void add_output(const std::string& name, const TensorSpec& spec, const NamedBuffers& given,
                  std::span<const DeviceBuffer> read);
  void write_by_program(const Buffer& output, std::size_t result);
  void start_alone(const CommandOptions& options) const;

  OpenProgram program_;
  Device device_;
  Buffer drawn_key_;
  bool has_host_steps_ = false;
  std::vector<expr::Buffers> leaves_;
  std::vector<DeviceBuffer> made_;  // none if the host drives a step
  /// Copies after the program, source and target: outputs that are constants or inputs, and results
  /// that are two outputs.
  std::vector<std::pair<Buffer, Buffer>> copies_;
  std::vector<std::pair<std::size_t, Buffer>> results_;  // of a program with host steps, with their
                                                         // targets
  NamedBuffers outputs_;
};

}  // namespace stoker::onnx
