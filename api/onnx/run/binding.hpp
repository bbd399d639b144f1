// Repeated runs of a model on the same memory: inputs and outputs are bound and checked once.
//
//     const onnx::Binding digits = model.bind({{"x", Tensor{in}}}, {{"y", out}});
//     in.write(pixels);                       // or where `in` is memory of the program's: Device::adopt()
//     const Future<> ran = digits.run();      // only starts
//     out.read<float>().get();
//
// Buffers keep the order of commands: run() reads the inputs that were written before it, and a
// later read of the outputs returns the results of that run. So runs of one binding execute one
// after another. If another thread writes to an input while run() is called, the write may take
// effect between two parts of that run. The binding also owns the working memory of its runs, and a
// run that follows another on the same buffers is replayed. If the host drives a part of the run,
// such as a long loop, each run copies the inputs and allocates its own memory.
//
// Some contents are fixed at the time of binding: inputs that decide about shapes, that are on
// another device, that are not tensors or that have not been computed yet; a number that was given
// as a vector of one element; and the seed, if there is one. Without a seed each run draws new
// random numbers.
//
// A shared handle; any thread. Errors are thrown by Model::bind(): those of run() and of its trace;
// unsupported if the plan is cut for these inputs or an output is not a tensor; not_found for an
// output that the model does not have; shape_mismatch, dtype_mismatch, wrong_device and released
// for the buffer of an output; invalid_argument for a buffer that is bound twice or that a run
// reads, and for an output that is bound but not among the requested ones. run() throws
// device_lost, closed, released and overloaded; failures on the device are in its future.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "stoker/api/buffer.hpp"

namespace stoker::onnx {

using NamedBuffers = std::map<std::string, Buffer, std::less<>>;

class BoundProgram;

class Binding {
 public:
  /// Ready when the outputs are written.
  [[nodiscard]] Future<> run(const CommandOptions& options = {}) const;
  /// The buffers that were bound, and the binding's own buffers for the other requested outputs.
  [[nodiscard]] const NamedBuffers& outputs() const noexcept;

 private:
  friend class Model;
  explicit Binding(std::shared_ptr<const BoundProgram> program) noexcept
      : program_{std::move(program)} {}
  std::shared_ptr<const BoundProgram> program_;
};

}  // namespace stoker::onnx
