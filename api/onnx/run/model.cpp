#include "stoker/api/onnx/run/model.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/onnx/optimize/narrowing.hpp"
#include "stoker/api/onnx/run/bound_program.hpp"
#include "stoker/api/onnx/run/inputs.hpp"
#include "stoker/api/onnx/run/node_evaluation.hpp"
#include "stoker/api/onnx/run/refused_nodes.hpp"
#include "stoker/api/onnx/run/rest_of_run.hpp"
#include "stoker/api/onnx/run/run.hpp"
#include "stoker/api/onnx/run/shared_graphs.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/random_seed.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker::onnx {
namespace {

/// What decides about shapes is small.
constexpr std::size_t most_deciding = 4096;
/// A walk goes into subgraphs and calls rules, which build graphs of tensors.
constexpr std::size_t walk_stack_bytes = std::size_t{1} << 20;

bool is_on(const Device& device, const Tensor& tensor) {
  return tensor.evaluated() && tensor.value().buffer().device() == device.client();
}

const OperatorTable& operators_of(const LoadOptions& options) {
  return options.operators ? *options.operators : OperatorTable::standard();
}

Model load(Result<ModelFile> read, const LoadOptions& options) {
  return load(std::make_shared<const ModelFile>(std::move(read).value()), options);
}

}  // namespace

struct Model::State {
  /// A run as it begins: its inputs are on the device.
  struct Start {
    Values inputs;
    std::vector<std::size_t> wanted;
    Tensor key;
    bool draws_anew = false;  ///< the key is of this run only
    CommandOptions limits;
    bool reads = false;  ///< inputs must be read first
  };

  State(LoadedGraphPtr loaded, std::optional<std::string> shared_name, Device where,
        const LoadOptions& options)
      : graph{std::move(loaded)},
        name{std::move(shared_name)},
        device{std::move(where)},
        max_nodes{options.max_nodes},
        may_trace{options.on_new_shape == NewShape::trace},
        plans{options.max_plans, options.max_plan_bytes, &constants} {
    if (options.operators) own_operators = *options.operators;
  }

  /// The one that serves a run with these inputs.
  [[nodiscard]] static const std::shared_ptr<State>& for_run(const std::shared_ptr<State>& state,
                                                             const NamedValues& inputs) {
    const bool gives_constant =
        state->as_read != nullptr && std::ranges::any_of(inputs, [&](const auto& input) {
          return state->prepared.has_initializer(input.first);
        });
    return gives_constant ? state->as_read : state;
  }
  /// Whether the host must read this input before the run.
  [[nodiscard]] bool is_read(std::size_t i, const Value& value) const {
    return value.is_lazy() && value.tensor().size() <= most_deciding &&
           prepared.decides(prepared.graph().inputs[i].name);
  }
  /// The positions of outputs by name; of all if no name is given.
  [[nodiscard]] std::vector<std::size_t> positions(const std::vector<std::string>& names) const {
    const std::vector<ValueInfo>& outputs = prepared.graph().outputs;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (names.empty() || std::ranges::find(names, outputs[i].name) != names.end())
        found.push_back(i);
    for (const std::string& name : names) {
      std::vector<std::string_view> known;
      known.reserve(outputs.size());
      for (const ValueInfo& output : outputs) known.push_back(output.name);
      if (std::ranges::find(known, name) != known.end()) continue;
      throw Error{"onnx.run",
                  ErrorCode::not_found,
                  "the model has no output '" + name + "'" + did_you_mean(name, known),
                  {{"output", name}}};
    }
    return found;
  }
  [[nodiscard]] NamedValues named(const std::vector<std::size_t>& wanted, Values values) const {
    NamedValues outputs;
    for (std::size_t i = 0; i < values.size(); ++i)
      outputs.insert_or_assign(prepared.graph().outputs[wanted[i]].name, std::move(values[i]));
    return outputs;
  }

  [[nodiscard]] Start start(const NamedValues& given, const RunOptions& options) const {
    fork.check("onnx.run").value();  // a thread of the parent may hold the lock of the plans
    Start made{.inputs = checked_inputs(prepared, given),
               .wanted = positions(options.outputs),
               .key = {},
               .limits = options.limits};
    share();
    const DeviceScope scope{device};
    for (std::size_t i = 0; i < made.inputs.size(); ++i) {
      Value& value = made.inputs[i];
      // What does not decide about shapes is no part of the signature.
      if (!value.is_lazy() && !prepared.decides(prepared.graph().inputs[i].name))
        value = on_device(value);
      made.reads |= is_read(i, value);
      bool is_here = true;
      value.visit_cells([&](const auto& cell) { is_here &= is_on(device, cell->tensor); });
      if (!is_here)
        value = value.with_tensors([&](const Value::Cell& cell) { return cell.tensor.to(device); });
    }
    if (prepared.draws()) {
      made.key = random::key(options.seed.value_or(random_seed())).eval();
      made.draws_anew = !options.seed;
    }
    return made;
  }
  /// A device that was opened again has a table of its own, where those who load the file later look.
  void share() const {
    if (!name) return;
    const std::shared_ptr<DeviceClient> client = device.client();
    if (shared_on.exchange(client.get()) != client.get())
      client->services().get<SharedGraphs>()->keep(*name, graph);
  }
  void read_inputs(Start& start) const {
    for (std::size_t i = 0; i < start.inputs.size(); ++i) {
      Value& value = start.inputs[i];
      if (is_read(i, value))
        value = Known{value.type(), value.shape(), value.tensor().to_bytes(start.limits)};
    }
  }
  [[nodiscard]] Run run_of(const Start& start, Plans& among, bool traces = true) {
    return {prepared, *described,   constants,    among,     times,
            device,   start.wanted, start.limits, max_nodes, traces};
  }
  /// Calls `function` where it may wait, with a stack for walks.
  template <class F> [[nodiscard]] auto spawn(F&& function) const {
    return Process::spawn(device.client()->executor(), std::forward<F>(function),
                          {.stack_bytes = walk_stack_bytes, .name = "onnx.run"});
  }

  /// `traces`: whether it may make plans. Throws what is wrong with the call.
  [[nodiscard]] static Future<NamedValues> run(const std::shared_ptr<State>& state,
                                               const NamedValues& inputs, const RunOptions& options,
                                               bool traces) {
    Start start = state->start(inputs, options);
    if (start.reads)
      return state->spawn([state, traces, start = std::move(start)]() mutable {
        state->read_inputs(start);
        Run run = state->run_of(start, state->plans, traces);
        return state->named(start.wanted, run(start.inputs, start.key));
      });
    Run run = state->run_of(start, state->plans, traces);
    try {
      const DeviceScope scope{state->device};
      if (auto outputs = run.at_once(start.inputs, start.key))
        return make_ready_future<NamedValues>(state->named(start.wanted, std::move(*outputs)));
    } catch (const std::exception&) {
      return make_ready_future<NamedValues>(error_from_current_exception("onnx.run"));
    }
    run.check_plan(start.inputs);
    return rest_of(state, std::move(start), std::move(run));
  }

  /// What Run::at_once() left.
  [[nodiscard]] static Future<NamedValues> rest_of(const std::shared_ptr<State>& state, Start start,
                                                   Run run) {
    struct Left {
      Start start;
      Run run;
    };
    auto left = std::make_shared<Left>(Left{std::move(start), std::move(run)});
    auto followed = [state, left]() -> std::optional<NamedValues> {
      const DeviceScope scope{state->device};
      if (auto values = left->run.followed())
        return state->named(left->start.wanted, *std::move(values));
      return {};
    };
    auto whole = [state, left] {
      return state->named(left->start.wanted, left->run.rest(left->start.inputs, left->start.key));
    };
    return RestOfRun::start(state->device.client()->executor(), walk_stack_bytes,
                            {.followed = std::move(followed), .whole = std::move(whole)});
  }

  const ForkGuard fork;
  const LoadedGraphPtr graph;
  const Prepared& prepared = graph->prepared;
  Constants& constants = graph->constants;
  const std::optional<std::string> name;  ///< of `graph` among those that are shared
  mutable std::atomic<const DeviceClient*> shared_on = nullptr;
  std::optional<OperatorTable> own_operators;
  const Device device;
  const std::size_t max_nodes;
  const bool may_trace;
  Plans plans;
  KernelTimes times;
  /// What was read, before passes.
  std::shared_ptr<const ModelFile> described;
  /// The graph without the passes, for runs that give what these took for a constant. Null where there is no need.
  std::shared_ptr<State> as_read;
};

const std::vector<ValueInfo>& Model::inputs() const noexcept {
  return state_->prepared.graph().inputs;
}
const std::vector<ValueInfo>& Model::outputs() const noexcept {
  return state_->prepared.graph().outputs;
}
const Device& Model::device() const noexcept { return state_->device; }

Description Model::info() const {
  Description made =
      describe(*state_->described,
               state_->own_operators ? *state_->own_operators : OperatorTable::standard());
  made.precision = state_->graph->precision;
  return made;
}

ModelStats Model::stats() const {
  state_->fork.check("onnx.stats").value();
  ModelStats stats;
  Constants::Counted counted;  // both graphs of a model may read one weight
  for (State* state = state_.get(); state != nullptr; state = state->as_read.get()) {
    stats += state->plans.counts();
    stats.weight_bytes += state->constants.device_bytes(counted);
    stats.plan_bytes += state->plans.bytes();
    std::ranges::move(state->times.list(), std::back_inserter(stats.times));
  }
  std::ranges::stable_sort(stats.times, std::ranges::greater{}, &KernelTime::total);
  return stats;
}

ModelMetadata Model::metadata() const { return metadata_of(*state_->described); }

Future<NamedValues> Model::run(const NamedValues& inputs, const RunOptions& options) const {
  const std::shared_ptr<State>& serving = State::for_run(state_, inputs);
  const bool may_trace =
      options.on_new_shape ? *options.on_new_shape == NewShape::trace : serving->may_trace;
  return State::run(serving, inputs, options, may_trace);
}

PlanDescription Model::plan(const NamedValues& inputs, const RunOptions& options) const {
  const std::shared_ptr<State>& serving = State::for_run(state_, inputs);
  auto traced = [state = serving, start = serving->start(inputs, options)]() mutable {
    state->read_inputs(start);
    Plans none{0};
    PlanRecorder recorder{true};
    static_cast<void>(state->run_of(start, none).recorded(start.inputs, start.key, recorder));
    return recorder.plan();
  };
  return serving->spawn(std::move(traced)).get();
}

Binding Model::bind(const NamedValues& inputs, const NamedBuffers& outputs,
                    const RunOptions& options) const {
  const std::shared_ptr<State>& serving = State::for_run(state_, inputs);
  std::vector<std::string> bound;
  for (const auto& [name, buffer] : outputs) bound.push_back(name);
  if (!bound.empty())
    static_cast<void>(serving->positions(bound));  // throws for one that is unknown
  for (const std::string& name : bound)
    if (!options.outputs.empty() &&
        std::ranges::find(options.outputs, name) == options.outputs.end())
      throw Error{"onnx.bind",
                  ErrorCode::invalid_argument,
                  "output '" + name + "' is bound, but is not among those that are wanted",
                  {{"output", name}}};
  auto made = [state = serving, start = serving->start(inputs, options), outputs]() mutable {
    state->read_inputs(start);
    Plans none{0};
    PlanRecorder recorder{false};
    Run run = state->run_of(start, none);
    static_cast<void>(run.recorded(start.inputs, start.key, recorder));
    if (const auto& cut = recorder.plan().segments.at(0).cut)
      throw Error{"onnx.bind",
                  ErrorCode::unsupported,
                  "the plan for these inputs is cut: " + cut->node + " reads what only a run knows",
                  {{"node", cut->node}}};
    std::vector<std::string> names;
    for (const std::size_t output : start.wanted)
      names.push_back(state->prepared.graph().outputs[output].name);
    return std::make_shared<const BoundProgram>(recorder.program(), *recorder.segment(),
                                                run.arguments(), names, outputs,
                                                start.draws_anew ? start.key.buffer() : Buffer{});
  };
  return Binding{serving->spawn(std::move(made)).get()};
}

void Model::warm_up(const NamedValues& inputs, const RunOptions& options) const {
  const NamedValues outputs =
      State::run(State::for_run(state_, inputs), inputs, options, true).get();
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : outputs)
    value.visit_cells([&](const auto& cell) { tensors.push_back(cell->tensor); });
  if (!tensors.empty()) computed(tensors).get();
}

Model load(std::shared_ptr<const ModelFile> file, const LoadOptions& options) {
  const OperatorTable& operators = operators_of(options);
  const Device device = options.device ? options.device : current_device();
  const auto table = device.client()->services().get<SharedGraphs>();
  const auto loaded = [&](std::span<const Pass* const> passes, Precision precision, auto&& make) {
    std::optional<std::string> name;
    if (!options.operators) name = SharedGraphs::name_of(*file, passes, precision);
    LoadedGraphPtr graph = name ? table->find(*name, *file) : nullptr;
    if (!graph) graph = name ? table->keep(*name, make()) : make();
    auto state = std::make_shared<Model::State>(std::move(graph), std::move(name), device, options);
    state->described = file;
    return state;
  };
  std::vector<const Pass*> passes = chosen_passes(options.optimize, options.without);
  if (options.precision != Precision::full)
    std::erase_if(passes, [](const Pass* pass) { return pass->changes_ranges; });
  std::vector<const Pass*> choosing;  // for plans, whatever graph they are of
  PlanChoices choices;
  for (const Pass* const pass : passes) {
    if (!pass->choose) continue;
    pass->choose(choices);
    choosing.push_back(pass);
  }
  // Refuses what cannot be computed, whatever passes make of it.
  std::shared_ptr<Model::State> as_read = loaded(choosing, Precision::full, [&] {
    return std::make_shared<LoadedGraph>(file, file, operators, choices);
  });
  std::shared_ptr<Model::State> state = loaded(passes, options.precision, [&] {
    const auto evaluate = node_evaluation(operators, device);
    const DeviceType type = device.info().type;
    auto rewritten = optimized(file, passes, operators, evaluate, type);
    std::optional<PrecisionReport> precision;
    if (options.precision != Precision::full) {
      // After the passes, which know patterns and weights of f32 only.
      Narrowed narrowed =
          with_precision(rewritten, options.precision, operators, evaluate, device.info());
      rewritten = optimized(std::move(narrowed.file), passes, operators, evaluate, type);
      precision = std::move(narrowed.report);
    }
    if (rewritten == file && !precision) return as_read->graph;
    return std::make_shared<LoadedGraph>(file, std::move(rewritten), operators, choices,
                                         std::move(precision));
  });
  const bool has_defaults = std::ranges::any_of(file->graph.inputs, [&](const ValueInfo& input) {
    return as_read->prepared.has_initializer(input.name);
  });
  if (has_defaults && state->graph != as_read->graph) state->as_read = std::move(as_read);
  return Model{std::move(state)};
}

Model load(const std::filesystem::path& path, const LoadOptions& options) {
  return load(read_model(path, listing_refused_nodes(operators_of(options))), options);
}

Model load(int descriptor, const LoadOptions& options) {
  return load(read_model(descriptor, listing_refused_nodes(operators_of(options))), options);
}

Future<Model> load(const System& system, std::filesystem::path path, const LoadOptions& options) {
  const auto operators =
      options.operators ? std::make_shared<const OperatorTable>(*options.operators) : nullptr;
  LoadOptions there = options;
  if (!there.device) there.device = current_device();
  return system.run_blocking([path = std::move(path), there = std::move(there), operators] {
    LoadOptions with_operators = there;
    with_operators.operators = operators.get();
    return load(path, with_operators);
  });
}

Model load(std::span<const std::byte> bytes, const LoadOptions& options) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return load(read_model(*copy, listing_refused_nodes(operators_of(options)), copy), options);
}

}  // namespace stoker::onnx
