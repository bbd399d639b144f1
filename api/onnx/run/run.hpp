// One run of a model: it follows the plans as far as they go, and traces what is missing.
//
// Threads: one at a time. rest() waits at cuts and traces, so it belongs into a process; followed() waits only, at_once()
// does neither.
// Errors are thrown: what rules throw while they trace, what the device refuses, what fails before a cut, and the
// limits of the options.
#pragma once

#include "stoker/api/onnx/run/constants.hpp"
#include "stoker/api/onnx/run/plan_recorder.hpp"
#include "stoker/api/onnx/run/plans.hpp"
#include "stoker/api/onnx/run/prepared.hpp"

namespace stoker::onnx {

class Run {
 public:
  /// `read`: what the caller has read; `model` may stand on another reading of the same files. `wanted`: the outputs
  /// that are computed, by position. `may_trace`: otherwise what no plan is there for is not_found. All of them outlive
  /// it.
  Run(const Prepared& model, const ModelFile& read, Constants& constants, Plans& plans,
      Device device, std::vector<std::size_t> wanted, CommandOptions options, std::size_t max_nodes,
      bool may_trace = true)
      : model_{model},
        read_{read},
        constants_{constants},
        plans_{plans},
        device_{std::move(device)},
        wanted_{std::move(wanted)},
        options_{std::move(options)},
        max_nodes_{max_nodes},
        may_trace_{may_trace} {}

  /// Starts the plans that are there, up to the outputs that are wanted or to what must be waited for: a cut whose
  /// elements are not there yet, or a trace. Nothing if the outputs are still to come: from rest(), with the same
  /// operands. `inputs`: one for each input of the graph, on the device, known where it decides about shapes. `key`:
  /// as for Walk.
  [[nodiscard]] std::optional<Values> at_once(const Values& inputs, const Tensor& key);
  /// Behind at_once(), before anything else: throws what rest() would if these inputs have no plan and get none.
  void check_plan(const Values& inputs) const;
  /// What at_once() left, as far as the plans go: nothing if a trace must come next, which rest() does.
  [[nodiscard]] std::optional<Values> followed();
  /// What at_once(), or followed() after it, left.
  [[nodiscard]] Values rest(const Values& inputs, const Tensor& key);
  /// Both.
  [[nodiscard]] Values operator()(const Values& inputs, const Tensor& key);
  /// Traces all of it anew and runs it.
  /// Unless it measures, the last segment does not run and nothing is returned.
  [[nodiscard]] Values recorded(const Values& inputs, const Tensor& key, PlanRecorder& recorder);
  /// What the segment that ran last was given: the tensors in the inputs, and the key.
  [[nodiscard]] std::span<const Tensor> arguments() const noexcept { return parameters_; }

 private:
  void start(const Values& inputs, const Tensor& key);
  [[nodiscard]] Values trace(const Values& inputs, const Tensor& key);
  [[nodiscard]] Error no_plan(const Values& inputs) const;
  /// Throws io_error if a file of the model is not what was loaded.
  void check_files() const;
  /// Before each node. Throws what ends the run: its deadline, its token, too many nodes.
  void check_limits();
  void execute(const Segment& segment);
  /// Asks for the elements of a cut; what is alive there starts the next segment.
  void ask_for_wanted(const Segment& segment);
  /// The next segment is that for the elements. Waits for them.
  void take_wanted();
  [[nodiscard]] Tensor tensor_of(Segment::Source source) const;
  [[nodiscard]] Values outputs_of(const Segment& segment) const;

  const Prepared& model_;
  const ModelFile& read_;
  Constants& constants_;
  Plans& plans_;
  Device device_;
  std::vector<std::size_t> wanted_;
  CommandOptions options_;
  PlanRecorder* recorder_ = nullptr;
  std::size_t max_nodes_;
  bool may_trace_;
  std::size_t nodes_ = 0;  ///< that the walk went through

  Plans::Path path_;
  std::vector<Tensor> parameters_;                  ///< of the segment that comes next, or ran
  std::vector<Tensor> results_;                     ///< of the program that ran
  Future<std::vector<std::byte>> wanted_elements_;  ///< valid between the two functions above
};

/// The same with tensors of the device of the DeviceScope in the place of what the host knows, in lists, too, but not in
/// maps.
[[nodiscard]] Value on_device(const Value& value);
/// What tells runs apart that need plans of their own.
[[nodiscard]] std::string signature_of(std::span<const Value> inputs);

}  // namespace stoker::onnx
