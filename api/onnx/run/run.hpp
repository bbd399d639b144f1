// One run of a model: it follows the plans as far as they go, and traces what is missing.
//
// Threads: one at a time. rest() waits at cuts and traces, so it belongs into a process; followed() waits
// only, at_once() does neither. Errors are thrown: what rules throw while they trace, what the device
// refuses, what fails before a cut, and the limits of the options.
#pragma once

#include "stoker/api/onnx/loops/open_loops.hpp"
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
  class Trace;
  /// How a walk gets past one key of the path: by the elements at a cut, which are the key, or to a place of a loop.
  struct Step {
    LoopId loop = {};
    LoopPlacePtr place = nullptr;        ///< null: a cut
    bool goes_on = true;                 ///< whether a round comes next
    std::vector<TensorSpec> given = {};  ///< behind the loop: of what is stacked
  };
  void start(const Values& inputs, const Tensor& key);
  /// Traces from where the run is to the outputs, or to a plan that is there: then nothing is returned.
  [[nodiscard]] std::optional<Values> trace(const Values& inputs, const Tensor& key);
  [[nodiscard]] Values traced(const Values& inputs, const Tensor& key);
  [[nodiscard]] Error no_plan(const Values& inputs) const;
  /// Throws io_error if a file of the model is not what was loaded.
  void check_files() const;
  /// Throws what ends the run: its deadline, its token, too many nodes if so many more come.
  void check_limits(std::size_t more_nodes);
  void execute(const Segment& segment);
  /// What is alive at the end of the segment starts the next one. Asks for what is wanted.
  void leave(const SegmentPtr& segment);
  /// Whether go_on() need not wait.
  [[nodiscard]] bool can_go_on() const {
    return !wanted_elements_.valid() || wanted_elements_.ready();
  }
  /// From the segment that was left to the next one. Waits for what is wanted.
  void go_on();
  void end_round(const Segment::LoopEnd& end, bool goes_on);
  /// Whether the path leads to a place of the loop, or on from there.
  [[nodiscard]] bool is_in(LoopId loop) const;
  [[nodiscard]] Tensor tensor_of(const Segment::Source& source) const;
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
  std::size_t nodes_ = 0;  ///< of the segments that ran

  std::uint64_t since_ = 0;  ///< Plans::now() when it began
  Plans::Path path_;
  std::vector<Step> steps_;  ///< for each key of the path but the first
  OpenLoops loops_;
  SegmentPtr left_;                                 ///< between leave() and go_on()
  std::vector<Tensor> parameters_;                  ///< of the segment that comes next, or ran
  std::vector<Tensor> results_;                     ///< of the program that ran
  Future<std::vector<std::byte>> wanted_elements_;  ///< of `left_`
};

/// The same with tensors of the device of the DeviceScope in the place of what the host knows, in lists, too,
/// but not in maps.
[[nodiscard]] Value on_device(const Value& value);

}  // namespace stoker::onnx
