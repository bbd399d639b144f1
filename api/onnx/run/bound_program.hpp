// What a binding runs: a program with a buffer for everything that it reads and writes.
//
// Host steps read their operands later than the commands that follow them in the buffers' order. A program that has
// one gets copies of the inputs and memory of its own in each run, and its results are copied to the outputs.
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
  /// that are not in `outputs` get buffers. `drawn_key`: among the arguments, gets another key before each run; empty:
  /// none does.
  BoundProgram(OpenProgram program, const Segment& last, std::span<const Tensor> arguments,
               std::span<const std::string> names, const NamedBuffers& outputs, Buffer drawn_key);

  [[nodiscard]] Future<> run(const CommandOptions& options) const;
  [[nodiscard]] const NamedBuffers& outputs() const noexcept { return outputs_; }

 private:
  /// `read`: what a run reads.
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
  /// From where to where, after the program: constants, inputs, and what is an output twice.
  std::vector<std::pair<Buffer, Buffer>> copies_;
  std::vector<std::pair<std::size_t, Buffer>> results_;  // of a program with host steps: to where
  NamedBuffers outputs_;
};

}  // namespace stoker::onnx
