// One run of a model: it follows the plans as far as they go, and traces what is missing.
//
// Threads: one for a run; it waits at cuts, so runs with cuts are processes. Errors are thrown: what rules throw while
// they trace, what the device refuses, and the limits of the options.
#pragma once

#include "stoker/api/onnx/run/constants.hpp"
#include "stoker/api/onnx/run/plan_recorder.hpp"
#include "stoker/api/onnx/run/plans.hpp"
#include "stoker/api/onnx/run/prepared.hpp"

namespace stoker::onnx {

class Run {
 public:
  /// `wanted`: the outputs that are computed, by position. All of them outlive it.
  Run(const Prepared& model, Constants& constants, Plans& plans, Device device,
      std::vector<std::size_t> wanted, CommandOptions options, std::size_t max_nodes)
      : model_{model},
        constants_{constants},
        plans_{plans},
        device_{std::move(device)},
        wanted_{std::move(wanted)},
        options_{std::move(options)},
        max_nodes_{max_nodes} {}

  /// `inputs`: one for each input of the graph, on the device, known where it decides about shapes. `key`: as for
  /// Walk. The outputs that are wanted.
  [[nodiscard]] Values operator()(const Values& inputs, const Tensor& key);
  /// The same if all of it was traced before and no cut stands in between; else nothing has happened.
  [[nodiscard]] std::optional<Values> at_once(const Values& inputs, const Tensor& key);
  /// Traces all of it anew and runs it.
  /// Unless it measures, the last segment does not run and nothing is returned.
  [[nodiscard]] Values recorded(const Values& inputs, const Tensor& key, PlanRecorder& recorder);
  /// What the segment that ran last was given: the tensors in the inputs, and the key.
  [[nodiscard]] std::span<const Tensor> arguments() const noexcept { return parameters_; }

 private:
  void start(const Values& inputs, const Tensor& key);
  [[nodiscard]] Values trace(const Values& inputs, const Tensor& key);
  /// Throws io_error if a file of the model is not what was loaded.
  void check_files() const;
  /// Before each node. Throws what ends the run: its deadline, its token, too many nodes.
  void check_limits();
  void execute(const Segment& segment);
  [[nodiscard]] std::vector<std::byte> read_wanted(const Segment& segment);
  [[nodiscard]] Tensor tensor_of(Segment::Source source) const;
  [[nodiscard]] Values outputs_of(const Segment& segment) const;

  const Prepared& model_;
  Constants& constants_;
  Plans& plans_;
  Device device_;
  std::vector<std::size_t> wanted_;
  CommandOptions options_;
  PlanRecorder* recorder_ = nullptr;
  std::size_t max_nodes_;
  std::size_t nodes_ = 0;  ///< that the walk went through

  Plans::Path path_;
  std::vector<Tensor> parameters_;  ///< of the segment that comes next, or ran
  std::vector<Tensor> results_;     ///< of the program that ran
};

/// The same with tensors of the device of the DeviceScope in the place of what the host knows, in lists, too.
[[nodiscard]] Value on_device(const Value& value);
/// What tells runs apart that need plans of their own.
[[nodiscard]] std::string signature_of(std::span<const Value> inputs);

}  // namespace stoker::onnx
