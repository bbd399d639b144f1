// One run of a model: it follows the existing plans, and traces missing ones.
//
// Threads: one at a time. rest() waits at cuts and traces, so call it in a process; followed() only
// waits; at_once() does neither. Errors are thrown: those of rules during the trace, those of the device,
// those of segments before a cut, and exceeded limits of the options.
#pragma once

#include "stoker/api/onnx/loops/open_loops.hpp"
#include "stoker/api/onnx/run/constants.hpp"
#include "stoker/api/onnx/run/plan_recorder.hpp"
#include "stoker/api/onnx/run/plans.hpp"
#include "stoker/api/onnx/run/prepared.hpp"
#include "stoker/api/onnx/times/kernel_times.hpp"

namespace stoker::onnx {

class Run {
 public:
  /// `read`: the files that the caller has read; `model` may be based on another reading of the same files. `wanted`:
  /// the positions of the outputs to compute. `may_trace`: if false, a missing plan is not_found. All arguments must
  /// outlive the run.
  Run(const Prepared& model, const ModelFile& read, Constants& constants, Plans& plans,
      KernelTimes& times, Device device, std::vector<std::size_t> wanted, CommandOptions options,
      std::size_t max_nodes, bool may_trace = true)
      : model_{model},
        read_{read},
        constants_{constants},
        plans_{plans},
        times_{times},
        device_{std::move(device)},
        wanted_{std::move(wanted)},
        options_{std::move(options)},
        max_nodes_{max_nodes},
        may_trace_{may_trace} {}

  /// Starts existing plans until the requested outputs are reached, or until it would have to wait for the elements
  /// of a cut or for a trace. In the latter case it returns nothing, and rest() gives the outputs for the same
  /// operands. `inputs`: one for each input of the graph, on the device, and known if it decides about shapes.
  /// `key`: as for Walk.
  [[nodiscard]] std::optional<Values> at_once(const Values& inputs, const Tensor& key);
  /// Called right after at_once(): if these inputs have no plan and none may be made, throws the error of
  /// rest().
  void check_plan(const Values& inputs) const;
  /// Continues after at_once() along existing plans. Returns nothing if a trace is needed next, which
  /// rest() makes.
  [[nodiscard]] std::optional<Values> followed();
  /// Completes the run after at_once() or followed().
  [[nodiscard]] Values rest(const Values& inputs, const Tensor& key);
  /// at_once() and rest().
  [[nodiscard]] Values operator()(const Values& inputs, const Tensor& key);
  /// Traces everything again and runs it. Unless `recorder` measures, the last segment does not run
  /// and nothing is returned.
  [[nodiscard]] Values recorded(const Values& inputs, const Tensor& key, PlanRecorder& recorder);
  /// The arguments of the segment that ran last: the tensors in the inputs, and the key.
  [[nodiscard]] std::span<const Tensor> arguments() const noexcept { return parameters_; }

 private:
  class Trace;
  /// How a walk passes one key of the path: with the elements at a cut, which are the key, or by going to a place of
  /// a loop.
  struct Step {
    LoopId loop = {};
    LoopPlacePtr place = nullptr;        ///< null: a cut
    bool goes_on = true;                 ///< whether a round comes next
    std::vector<TensorSpec> given = {};  ///< after the loop: the specs of the stacked outputs
  };
  void start(const Values& inputs, const Tensor& key);
  /// Traces from the run's position to the outputs, or to an existing plan; in the latter case it
  /// returns nothing.
  [[nodiscard]] std::optional<Values> trace(const Values& inputs, const Tensor& key);
  [[nodiscard]] Values traced(const Values& inputs, const Tensor& key);
  [[nodiscard]] Error no_plan(const Values& inputs) const;
  /// Throws io_error if a file of the model has changed since it was loaded.
  void check_files() const;
  /// Throws if the run must end: for its deadline, its token, or too many nodes with `more_nodes`
  /// added.
  void check_limits(std::size_t more_nodes);
  void execute(const Segment& segment);
  /// Takes the tensors that the next segment starts from, and requests the elements to be read.
  void leave(const SegmentPtr& segment);
  /// Whether go_on() need not wait.
  [[nodiscard]] bool can_go_on() const {
    return !wanted_elements_.valid() || wanted_elements_.ready();
  }
  /// Goes from the segment that was left to the next one. Waits for the requested elements.
  void go_on();
  void end_round(const Segment::LoopEnd& end, bool goes_on);
  /// Whether the path leads to or past a place of the loop.
  [[nodiscard]] bool is_in(LoopId loop) const;
  [[nodiscard]] Tensor tensor_of(const Segment::Source& source) const;
  [[nodiscard]] Values outputs_of(const Segment& segment) const;

  const Prepared& model_;
  const ModelFile& read_;
  Constants& constants_;
  Plans& plans_;
  KernelTimes& times_;
  Device device_;
  std::vector<std::size_t> wanted_;
  CommandOptions options_;
  PlanRecorder* recorder_ = nullptr;
  std::size_t max_nodes_;
  bool may_trace_;
  std::size_t nodes_ = 0;  ///< of the segments that ran

  std::uint64_t since_ = 0;  ///< Plans::now() at the start of the run
  Plans::Path path_;
  std::vector<Step> steps_;  ///< for each key of the path but the first
  OpenLoops loops_;
  SegmentPtr left_;                                 ///< between leave() and go_on()
  std::vector<Tensor> parameters_;                  ///< of the segment that comes next, or ran
  std::vector<Tensor> results_;                     ///< of the program that ran
  Future<std::vector<std::byte>> wanted_elements_;  ///< of `left_`
};

/// A copy in which values that the host knows, also in lists but not in maps, are tensors on the device of
/// the DeviceScope.
[[nodiscard]] Value on_device(const Value& value);

}  // namespace stoker::onnx
