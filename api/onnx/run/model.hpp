// ONNX models: loaded once, run with inputs of any size that they allow.
//
//     const onnx::Model faces = onnx::load("ultraface.onnx", {.device = gpu});
//     const onnx::NamedValues out = faces.run({{"input", photo}}).get();
//     const Tensor boxes = out.at("boxes").tensor();
//
// The first run with inputs of certain types, extents and shape-deciding contents traces the model for them; the plan
// is kept. Where an operator needs elements that only the run knows (NonZero, a condition, a trip count), the plan is
// cut there: the run reads them and goes on with the plan for that answer. No thread waits meanwhile: elements that are
// there at once, as those of small kernels on the CPU, are read by the call; others by a process, or by the
// plain thread that waits for the outputs anyway.
//
// A shared, immutable handle; any thread may run it, any number at once. They share weights and plans. Weights are
// on the model's device. Models that are loaded from one file share them, too, for as long as one of them lives: those
// that no pass or precision changes whatever the options, all of them if passes and precision are the same and the
// operators the standard ones. A file that was written to in between, as its times and size tell, is another; writes
// through a memory map may leave both, so replace a file of models that live, do not write to it so. What was read from
// memory, a pipe or a file without a name is not shared, nor a file that was written to in the same tick of the clock
// (10 ms at most, mostly) as it was opened.
//
// Errors are thrown by the call: load() throws io_error (the file cannot be read or is damaged), invalid_argument (a
// graph that is not in order), unsupported (all nodes that cannot be computed, with the reasons), not_found (a name in
// LoadOptions::without that no pass has). run() throws not_found for a name that no input has, invalid_argument for an
// input that is missing or of another kind, dtype_mismatch, shape_mismatch. With NewShape::refuse it throws
// not_found for inputs without a plan; where these must be read first, and behind a cut, that is in the
// future. What runs, plans or counts throws forked_process in a child of fork(). What fails while it is
// traced or runs is in the future: io_error if the file has changed since it was loaded and its weights are
// wanted again.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/optimize/level.hpp"
#include "stoker/api/onnx/optimize/precision.hpp"
#include "stoker/api/onnx/run/binding.hpp"
#include "stoker/api/onnx/run/description.hpp"
#include "stoker/api/onnx/run/plan_description.hpp"
#include "stoker/api/onnx/run/plans.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker {
class System;
}  // namespace stoker

namespace stoker::onnx {

using NamedValues = std::map<std::string, Value, std::less<>>;

/// What a run does that comes to inputs, or behind a cut to elements, for which there is no plan.
enum class NewShape : std::uint8_t {
  trace,  ///< it makes the plan, which takes longer than a run that finds it
  /// It fails with not_found, whose text has the nearest plan: warm_up() makes plans, and a run that asks for it.
  refuse,
};

struct LoadOptions {
  /// Where weights lie and runs run. None: the device of the DeviceScope.
  Device device = {};
  /// The programs that are kept, over all signatures and cuts.
  std::size_t max_plans = 64;
  /// What they may take, as ModelStats::plan_bytes counts it. Those that were not used for longest make room; one that
  /// takes more by itself is not kept, so that each run traces it anew. Runs that give an input in the place of its
  /// initializer have plans of their own, for which both bounds count anew.
  std::uint64_t max_plan_bytes = Plans::no_limit;
  /// With `refuse`, choose bounds that hold all that is warmed up: plans that made room, were not kept, or whose device
  /// was lost, are refused until they are warmed up again. Texts and maps are in the signature with their elements.
  NewShape on_new_shape = NewShape::trace;
  /// How many nodes a run may go through when it is traced, over all rounds of all loops: no file makes a run without
  /// an end. More is limit_exceeded.
  std::size_t max_nodes = std::size_t{1} << 22;
  /// Null: the standard ones. Need not outlive the call.
  const OperatorTable* operators = nullptr;
  /// How far the graph is rewritten; docs/onnx.md lists the passes. A run that gives an input in the place of its
  /// initializer runs the graph as it was read.
  Optimize optimize = Optimize::all;
  /// Passes that do not run, by name. load() throws not_found for a name that none has.
  std::vector<std::string> without = {};
  /// In what the f32 numbers of the file are stored and computed, at every level, but where results need f32 or the
  /// device does not gain; info() says which nodes these are. Inputs and outputs keep their types. A run that gives an
  /// input in the place of its initializer runs the graph as it was read, in its own types.
  Precision precision = Precision::full;
};

struct RunOptions {
  /// Deadline, token, points to wait for: of all that the run starts, and at each cut.
  CommandOptions limits = {};
  /// Of random operators that have no seed of their own. The same seed gives the same numbers; without one, each run
  /// draws anew.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// The outputs that are wanted; what only others need is not computed. Empty: all. Throws not_found for a name that
  /// no output has.
  std::vector<std::string> outputs = {};
  /// What this run does where there is no plan for its shapes, instead of what the model was loaded with.
  std::optional<NewShape> on_new_shape = std::nullopt;
};

/// What a model did since it was loaded, the weights that it holds, and what its plans need.
struct ModelStats : PlanCounts {
  /// Of constants on the device: weights that a plan reads, and what nodes made of nothing but constants. Models that
  /// share them count them each.
  std::uint64_t weight_bytes = 0;
  /// What runs of the plans work in besides operands, weights and results, added up over the plans, and constants that
  /// only plans hold, each once. A run takes the former from the device's memory and gives it back, so plans
  /// that do not run at the same time may share it. Not counted: the device's code for kernels, and what the
  /// host keeps of a plan.
  std::uint64_t plan_bytes = 0;
};

class Model {
 public:
  /// An empty handle: only assignment, destruction and operator bool are allowed.
  Model() = default;
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

  /// The inputs that a run must or, if they have an initializer, may give.
  [[nodiscard]] const std::vector<ValueInfo>& inputs() const noexcept;
  [[nodiscard]] const std::vector<ValueInfo>& outputs() const noexcept;
  [[nodiscard]] ModelMetadata metadata() const;
  [[nodiscard]] const Device& device() const noexcept;
  /// What describe() says of its file, and what the precision that was asked for came to.
  [[nodiscard]] Description info() const;
  [[nodiscard]] ModelStats stats() const;

  /// Returns at once. The outputs are there when it is known which they are: at once where the plan is there and what
  /// its cuts read is there, too. Their tensors are computed then or later, as tensors are.
  [[nodiscard]] Future<NamedValues> run(const NamedValues& inputs,
                                        const RunOptions& options = {}) const;
  /// run() with a completion token of Asio, as async_get() has them (runtime/asio/future_asio.hpp): what fails is
  /// thrown where the token throws. Include api/onnx_async.hpp.
  template <class Token>
  auto async_run(const NamedValues& inputs, Token&& token, const RunOptions& options = {}) const;
  /// Traces and plans for such inputs, runs once, with `refuse`, too, and waits for the outputs. Does not
  /// tell whether the plan is kept. Blocks. Throws what run() does, in the future or not.
  void warm_up(const NamedValues& inputs, const RunOptions& options = {}) const;
  /// Runs on the memory of these inputs and outputs; outputs without a buffer that are wanted get one. Traces and runs
  /// once. Blocks.
  [[nodiscard]] Binding bind(const NamedValues& inputs, const NamedBuffers& outputs = {},
                             const RunOptions& options = {}) const;
  /// What a run for such inputs comes to. Traces it anew and runs it twice, to time the kernels; keeps no plan. Behind
  /// a cut it is the plan for these very elements. Blocks. Throws what run() does, in the future or not.
  [[nodiscard]] PlanDescription plan(const NamedValues& inputs,
                                     const RunOptions& options = {}) const;

 private:
  friend Model load(std::shared_ptr<const ModelFile> file, const LoadOptions& options);
  struct State;
  explicit Model(std::shared_ptr<State> state) : state_{std::move(state)} {}
  std::shared_ptr<State> state_;
};

/// External data are looked for below the folder of the file. Blocks.
[[nodiscard]] Model load(const std::filesystem::path& path, const LoadOptions& options = {});
/// What a descriptor reads: a regular file from its start, a pipe to its end. The caller closes it, at once
/// if it likes. External data are refused. Blocks.
[[nodiscard]] Model load(int descriptor, const LoadOptions& options = {});
/// The bytes are copied. External data are refused.
[[nodiscard]] Model load(std::span<const std::byte> bytes, const LoadOptions& options = {});
/// A file that was read, or built by the program. Blocks while constants are computed, as all of them do.
[[nodiscard]] Model load(std::shared_ptr<const ModelFile> file, const LoadOptions& options = {});
/// Returns at once and loads on the system's pool for blocking work, so no event loop waits. Throws overloaded and
/// closed; all else is in the future. The device of the DeviceScope is the caller's.
[[nodiscard]] Future<Model> load(const System& system, std::filesystem::path path,
                                 const LoadOptions& options = {});

}  // namespace stoker::onnx
