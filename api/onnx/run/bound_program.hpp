// What a binding runs: a program with a buffer for everything that it reads and writes.
//
// Immutable; any thread. Errors are thrown: those of Binding.
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
  /// `last`: the only segment, `program`: its own, `arguments`: what it was traced for, `names`: of its outputs. Those
  /// that are not in `outputs` get buffers.
  BoundProgram(OpenProgram program, const Segment& last, std::span<const Tensor> arguments,
               std::span<const std::string> names, const NamedBuffers& outputs);

  [[nodiscard]] Future<> run(const CommandOptions& options) const;
  [[nodiscard]] const NamedBuffers& outputs() const noexcept { return outputs_; }

 private:
  void add_output(const std::string& name, const TensorSpec& spec, const NamedBuffers& given);
  void write_by_program(const Buffer& output, const expr::LoweredProgram::Slot& slot);

  OpenProgram program_;
  Device device_;
  std::vector<expr::Buffers> leaves_;
  std::vector<DeviceBuffer> made_;
  /// From where to where, after the program: constants, inputs, and what is an output twice.
  std::vector<std::pair<Buffer, Buffer>> copies_;
  NamedBuffers outputs_;
};

}  // namespace stoker::onnx
