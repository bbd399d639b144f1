// A pipeline: kernels connected by named values, checked as a whole, planned once, run many times.
//
//     Pipeline edges = system.pipeline("cpu");
//     edges.input("photo", {DType::u8, {427, 640, 3}});
//     edges.add(kernels::Grayscale{}, {"photo"}, "grey");
//     edges.add(kernels::GaussianBlur{.radius = 2}, {"grey"}, "soft");
//     edges.add("sobel:soft:edges");                        // the text form
//     edges.output("edges");
//     Command run = edges.run({{"photo", photo}, {"edges", result}});
//
// Inputs and outputs are bound for each run. Every run has its own intermediate values, so runs may
// overlap, except those that share a buffer which one of them writes: these run in order. A stage
// may also name a Buffer directly; it then uses that buffer in every run.
//
// Threads: build on one thread at a time; once built, run() may be called from any thread.
// Lifetime: a shared handle. Errors are thrown: add() checks name, arity and parameters, run() (or
// compile()) everything else, before anything runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/api/buffer.hpp"
#include "stoker/kernels/params.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker {

/// A stage's input or output: a value's name, or a buffer.
class PipelineValue {
 public:
  PipelineValue(const char* name) : value_{std::string{name}} {}  // NOLINT: reads as the name
  PipelineValue(std::string name) : value_{std::move(name)} {}    // NOLINT
  PipelineValue(Buffer buffer) : value_{std::move(buffer)} {}     // NOLINT
  [[nodiscard]] const std::variant<std::string, Buffer>& get() const noexcept { return value_; }

 private:
  std::variant<std::string, Buffer> value_;
};

/// A stage as data.
struct PipelineStage {
  std::string kernel;
  std::vector<PipelineValue> inputs;
  std::vector<PipelineValue> outputs;
  Params params = {};

  /// PipelineStage::of(kernels::Svd{}, {"matrix"}, {"u", "s", "vt"})
  template <TypedKernel K>
  [[nodiscard]] static PipelineStage of(const K& kernel, std::vector<PipelineValue> inputs,
                                        std::vector<PipelineValue> outputs) {
    return {std::string{K::kind}, std::move(inputs), std::move(outputs), options::given(kernel)};
  }
};

/// Buffers by value name.
using Bindings = std::map<std::string, Buffer, std::less<>>;

class Pipeline {
 public:
  explicit Pipeline(std::shared_ptr<DeviceClient> device);

  /// Declares a value that each run binds. Throws already_exists.
  Pipeline& input(std::string_view name, const TensorSpec& spec);
  /// Marks a value that a stage writes as bound by each run. Throws not_found.
  Pipeline& output(std::string_view name);

  /// Adds a stage. Throws unknown_kernel, arity_mismatch, invalid_parameter, wrong_device,
  /// released; then nothing is added.
  Pipeline& add(std::string_view kernel, std::vector<PipelineValue> inputs, PipelineValue output,
                const Params& params = {});
  template <TypedKernel K>
  Pipeline& add(const K& kernel, std::vector<PipelineValue> inputs, PipelineValue output) {
    return add(K::kind, std::move(inputs), std::move(output), options::given(kernel));
  }
  Pipeline& add(const PipelineStage& stage);
  /// "kernel:in,in:out" with "?name=value&…" for parameters.
  Pipeline& add(std::string_view text);

  /// Checks and plans now instead of at the first run. Throws the first error in the graph.
  const Pipeline& compile() const;

  /// Starts a run. Throws the errors of compile(), and errors in the bindings.
  Command run(const Bindings& bindings = {}, const CommandOptions& options = {}) const;

  /// The spec of a value. Compiles first if needed. Throws the errors of compile(), and not_found.
  [[nodiscard]] TensorSpec spec_of(std::string_view name) const;
  /// Bytes of one run's intermediate values, with and without sharing memory. Compiles as spec_of()
  /// does.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> arena_bytes() const;
  /// The kernels in the order of execution, matching Command::step_times(). Compiles as spec_of()
  /// does.
  [[nodiscard]] std::vector<std::string> order() const;
  [[nodiscard]] std::size_t size() const noexcept;
  /// Frees idle intermediates and recordings; returns their number. Blocks until the pipeline's
  /// actor has done so.
  std::size_t trim() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stoker
