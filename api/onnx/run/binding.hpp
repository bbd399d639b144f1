// Runs of a model on the same memory, again and again: inputs and outputs are bound and checked once.
//
//     const onnx::Binding digits = model.bind({{"x", Tensor{in}}}, {{"y", out}});
//     in.write(pixels);                       // or where `in` is memory of the program's: Device::adopt()
//     const Future<> ran = digits.run();      // only starts
//     out.read<float>().get();
//
// Buffers keep the order of commands: run() reads what was written to the inputs before, and what
// is read of the outputs afterwards is its. So runs of one binding come one after another. A write
// to an input from another thread while run() is called may come between two parts of that run.
// What a run needs besides is the binding's, too, and a run that follows on the same buffers is
// replayed; where the host drives a part, such as a long loop, each run makes copies of the inputs
// and memory of its own.
//
// Some contents are those at the time of binding: of inputs that decide about shapes, that are on
// another device, that are no tensors or are yet to be computed, of a number that came as a vector
// of one, and the seed if there is one: without it each run draws anew.
//
// A shared handle; any thread. Errors are thrown by Model::bind(): those of run(), also while it is
// traced; unsupported if the plan is cut for these inputs, or an output is no tensor; not_found for
// an output that the model does not have; shape_mismatch, dtype_mismatch, wrong_device, released
// for its buffer; invalid_argument for a buffer that is bound twice or that a run reads, and for an
// output that is bound and not wanted. run() throws device_lost, closed, released and overloaded;
// what fails on the device is in its future.
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
  /// Those that were bound, and buffers of the binding's own for the others that are wanted.
  [[nodiscard]] const NamedBuffers& outputs() const noexcept;

 private:
  friend class Model;
  explicit Binding(std::shared_ptr<const BoundProgram> program) noexcept
      : program_{std::move(program)} {}
  std::shared_ptr<const BoundProgram> program_;
};

}  // namespace stoker::onnx
