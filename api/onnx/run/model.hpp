// ONNX models: loaded once, run with inputs of any size that they allow.
//
//     const onnx::Model faces = onnx::load("ultraface.onnx", {.device = gpu});
//     const onnx::NamedValues out = faces.run({{"input", photo}}).get();
//     const Tensor boxes = out.at("boxes").tensor();
//
// The first run with inputs of certain types, extents and shape-deciding contents traces the model for them, and the
// plan is kept. Where an operator needs elements that only the run knows (NonZero, a condition, a trip count), the plan
// is cut: the run reads the elements and continues with the plan for them. No thread is blocked meanwhile. The call
// itself reads elements that are available at once, such as results of small kernels on the CPU. Other elements are
// read by a process, or by a plain thread that already waits for the outputs.
//
// A shared, immutable handle. Any thread may run it, and any number of runs may overlap; they share weights and plans.
// Weights are on the model's device. Models that are loaded from one file share its weights for as long as one of them
// lives. Weights of 4 KiB or more that no pass or precision changes are shared whatever the options; the others are
// shared if passes and precision are the same and the operators are the standard ones. A file whose times or size have
// changed counts as another file. A write through a memory map may leave both unchanged, so to update a file that is in
// use, rename a new file over it. Models read from memory, a pipe or a file without a name share nothing. Neither does
// a file that was last written in the same tick of the clock in which it was opened (usually at most 10 ms).
//
// Errors are thrown by the call: load() throws io_error (the file cannot be read or is damaged), invalid_argument (a
// graph that is not in order), unsupported (all nodes that cannot be computed, with the reasons), not_found (a name in
// LoadOptions::without that no pass has). run() throws not_found for a name that no input has, invalid_argument for an
// input that is missing or of another kind, dtype_mismatch, shape_mismatch. With NewShape::refuse it throws not_found
// for inputs without a plan; if inputs must be read first, or if the plan is missing after a cut, the future holds
// this error. In a child of fork(), run(), warm_up(), bind(), plan() and stats() throw forked_process. Failures while
// a run is traced or executed are in the future, among them io_error if the file has changed since it was loaded and
// its weights are needed again.
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
#include "stoker/api/onnx/times/kernel_time.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker {
class System;
}  // namespace stoker

namespace stoker::onnx {

using NamedValues = std::map<std::string, Value, std::less<>>;

/// What a run does when there is no plan for its inputs, or for the elements that it reads at a
/// cut.
enum class NewShape : std::uint8_t {
  trace,  ///< it makes the plan, which takes longer than a run with a plan
  /// It fails with not_found; the error names the nearest plan. Plans are made by warm_up(), and by runs whose
  /// options say `trace`.
  refuse,
};

struct LoadOptions {
  /// Where weights are stored and runs execute. None: the device of the DeviceScope.
  Device device = {};
  /// The number of programs that are kept, over all signatures and cuts.
  std::size_t max_plans = 64;
  /// The bytes that plans may need, as ModelStats::plan_bytes counts them. The least recently used plans are dropped
  /// first. A plan that exceeds the bound by itself is not kept, so each run traces it again. Runs that give an input
  /// for which the file has an initializer have plans of their own, with the same two bounds again.
  std::uint64_t max_plan_bytes = Plans::no_limit;
  /// With `refuse`, choose bounds that hold all plans that are warmed up. A plan that was dropped, was not kept, or
  /// whose device was lost, is refused until it is warmed up again. The signature contains the elements of texts and
  /// maps.
  NewShape on_new_shape = NewShape::trace;
  /// How many nodes a run may visit when it is traced, over all rounds of all loops, so that no file can make a run
  /// endless. More nodes are limit_exceeded.
  std::size_t max_nodes = std::size_t{1} << 22;
  /// Null: the standard operators. The table need not outlive the call.
  const OperatorTable* operators = nullptr;
  /// How far the graph is rewritten; docs/onnx.md lists the passes. A run that gives an input for which the file
  /// has an initializer runs the graph as it was read.
  Optimize optimize = Optimize::all;
  /// Names of passes that do not run. load() throws not_found for an unknown name.
  std::vector<std::string> without = {};
  /// The type in which f32 numbers of the file are stored and computed, at every level of `optimize`. Nodes whose
  /// results need f32, or which gain nothing on the device, stay in f32; info() names them. Inputs and outputs keep
  /// their types. A run that gives an input for which the file has an initializer runs the graph as it was read, in
  /// its own types.
  Precision precision = Precision::full;
};

struct RunOptions {
  /// Deadline, token and points to wait for. They apply to all commands of the run, and at each
  /// cut.
  CommandOptions limits = {};
  /// The seed of random operators that have no seed of their own. The same seed gives the same numbers; without one,
  /// each run draws new numbers.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// The names of the outputs to compute; nodes that only other outputs need are skipped. Empty: all. run() throws
  /// not_found for an unknown name.
  std::vector<std::string> outputs = {};
  /// What this run does if there is no plan, in place of LoadOptions::on_new_shape.
  std::optional<NewShape> on_new_shape = std::nullopt;
};

/// Counts since the model was loaded, the weights that it holds, and the memory that its plans
/// need.
struct ModelStats : PlanCounts {
  /// Bytes of constants on the device: weights that a plan reads, and results of nodes whose operands are all
  /// constant. Each model counts the constants that it shares.
  std::uint64_t weight_bytes = 0;
  /// Bytes of working memory of the plans, besides operands, weights and results, added up over the plans, and of
  /// constants that only plans hold, each counted once. A run allocates its working memory on the device and frees it,
  /// so plans that do not run at the same time may share it. Not counted: the device's code for kernels, and the
  /// host's memory of a plan.
  std::uint64_t plan_bytes = 0;
  /// The times of kernels on the device, the longest in total first: of runs that began while the system's trace was
  /// enabled (System::trace()) and have ended. Runs of bindings, and steps that the host drives, are not timed. Kernels
  /// of one name that compute the same nodes share an entry, whatever plan they belong to. At most 4096 entries have a
  /// name; all other kernels share one without.
  std::vector<KernelTime> times = {};
};

class Model {
 public:
  /// An empty handle: only assignment, destruction and operator bool are allowed.
  Model() = default;
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

  /// All inputs. A run may omit those that have an initializer.
  [[nodiscard]] const std::vector<ValueInfo>& inputs() const noexcept;
  [[nodiscard]] const std::vector<ValueInfo>& outputs() const noexcept;
  [[nodiscard]] ModelMetadata metadata() const;
  [[nodiscard]] const Device& device() const noexcept;
  /// The result of describe() for its file, and the report on LoadOptions::precision.
  [[nodiscard]] Description info() const;
  [[nodiscard]] ModelStats stats() const;

  /// Returns at once. The future is ready when the plans up to the outputs are known and started: at once if the
  /// plans exist and the elements at their cuts are available. The tensors of the outputs are lazy and may be
  /// computed later.
  [[nodiscard]] Future<NamedValues> run(const NamedValues& inputs,
                                        const RunOptions& options = {}) const;
  /// run() with a completion token of Asio, as for async_get() (runtime/asio/future_asio.hpp), which also throws
  /// the error of a failed run. Include api/onnx_async.hpp.
  template <class Token>
  auto async_run(const NamedValues& inputs, Token&& token, const RunOptions& options = {}) const;
  /// Makes the plan for such inputs, also with `refuse`, runs it once and waits for the outputs. Does not
  /// report whether the plan is kept. Blocks. Throws every error of run(), also those in its future.
  void warm_up(const NamedValues& inputs, const RunOptions& options = {}) const;
  /// Prepares runs on the memory of these inputs and outputs. Requested outputs without a buffer get one. Traces once.
  /// Blocks.
  [[nodiscard]] Binding bind(const NamedValues& inputs, const NamedBuffers& outputs = {},
                             const RunOptions& options = {}) const;
  /// Describes the plan for such inputs. Traces it again and runs it twice to time the kernels; keeps no plan. After a
  /// cut, it describes the plan for the elements of this run. Blocks. Throws every error of run(), also those in its
  /// future.
  [[nodiscard]] PlanDescription plan(const NamedValues& inputs,
                                     const RunOptions& options = {}) const;

 private:
  friend Model load(std::shared_ptr<const ModelFile> file, const LoadOptions& options);
  struct State;
  explicit Model(std::shared_ptr<State> state) : state_{std::move(state)} {}
  std::shared_ptr<State> state_;
};

/// External data must be below the folder of the file. Blocks.
[[nodiscard]] Model load(const std::filesystem::path& path, const LoadOptions& options = {});
/// Reads a descriptor: a regular file from its start, a pipe to its end. The caller closes the descriptor
/// and may do so as soon as the call returns. External data are refused. Blocks.
[[nodiscard]] Model load(int descriptor, const LoadOptions& options = {});
/// The bytes are copied. External data are refused.
[[nodiscard]] Model load(std::span<const std::byte> bytes, const LoadOptions& options = {});
/// A file that was read, or a graph that the program has built. Blocks while constants are computed, as
/// all overloads without a system do.
[[nodiscard]] Model load(std::shared_ptr<const ModelFile> file, const LoadOptions& options = {});
/// Returns at once and loads on the system's pool for blocking work, so no event loop waits. Throws overloaded and
/// closed; all other errors are in the future. Uses the DeviceScope of the caller.
[[nodiscard]] Future<Model> load(const System& system, std::filesystem::path path,
                                 const LoadOptions& options = {});

}  // namespace stoker::onnx
