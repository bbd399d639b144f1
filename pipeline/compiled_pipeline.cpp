#include "stoker/pipeline/compiled_pipeline.hpp"

#include <algorithm>
#include <optional>

namespace stoker {
namespace {

constexpr std::uint32_t no_item = ~std::uint32_t{0};

/// Edges between stages from who writes and reads which value, in the order of execution.
std::vector<std::vector<std::uint32_t>> hazards(const Graph& graph,
                                                const std::vector<std::uint32_t>& order) {
  struct LastUse {
    std::optional<std::uint32_t> writer;
    std::vector<std::uint32_t> readers;
  };
  std::vector<LastUse> last(graph.values().size());
  std::vector<std::vector<std::uint32_t>> after(order.size());
  const auto depend = [&](std::uint32_t position, std::uint32_t earlier) {
    auto& list = after[position];
    if (earlier != position && std::ranges::find(list, earlier) == list.end())
      list.push_back(earlier);
  };
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    const GraphStage& stage = graph.stages()[order[position]];
    for (const ValueId value : stage.inputs) {
      if (last[value].writer) depend(position, *last[value].writer);
      last[value].readers.push_back(position);
    }
    for (const ValueId value : stage.outputs) {
      if (last[value].writer) depend(position, *last[value].writer);
      for (const std::uint32_t reader : last[value].readers) depend(position, reader);
      last[value] = {position, {}};
    }
  }
  return after;
}

}  // namespace

CompiledPipeline::CompiledPipeline(Key, Graph graph, std::shared_ptr<DeviceClient> device)
    : graph_{std::move(graph)}, device_{std::move(device)} {}

Result<std::shared_ptr<CompiledPipeline>> CompiledPipeline::compile(
    Graph graph, std::shared_ptr<DeviceClient> device) {
  STOKER_ASSIGN(const std::vector<std::uint32_t> order, check_graph(graph));
  auto pipeline = std::make_shared<CompiledPipeline>(Key{}, std::move(graph), std::move(device));
  STOKER_TRY(pipeline->plan(order));
  return pipeline;
}

Result<void> CompiledPipeline::plan(const std::vector<std::uint32_t>& order) {
  const auto& values = graph_.values();
  external_written_.resize(values.size());
  external_read_first_.resize(values.size());
  for (ValueId id = 0; id < values.size(); ++id)
    if (values[id].external) externals_.push_back(id);

  auto after = hazards(graph_, order);
  const Ancestry ancestry{after};
  std::vector<std::vector<std::uint32_t>> readers(values.size());
  std::vector<bool> seen_written(values.size());
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    const GraphStage& stage = graph_.stages()[order[position]];
    for (const ValueId value : stage.inputs) {
      readers[value].push_back(position);
      if (!seen_written[value]) external_read_first_[value] = true;
    }
    for (const ValueId value : stage.outputs) seen_written[value] = true;
  }
  external_written_ = seen_written;

  std::vector<ArenaItem> items;
  std::vector<ValueId> tail;  // the newest value in each item
  item_of_value_.assign(values.size(), no_item);
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    const GraphStage& stage = graph_.stages()[order[position]];
    PlannedStage planned;
    planned.stage = order[position];
    std::vector<TensorSpec> inputs;
    for (const ValueId value : stage.inputs) inputs.push_back(*values[value].spec);
    auto prepared = device_->shell().executables().get(stage.kernel, inputs, stage.params);
    if (!prepared) return prepared.error().with("stage", std::to_string(order[position]));
    planned.prepared = *prepared;

    for (const ValueId value : stage.outputs) {
      if (values[value].external) continue;
      // An elementwise kernel whose input nobody needs afterwards writes over it.
      const ValueId source = stage.inputs.empty() ? value : stage.inputs[0];
      const std::uint32_t item = source == value ? no_item : item_of_value_[source];
      const bool in_place = stage.kernel->in_place && item != no_item && tail[item] == source &&
                            stage.outputs.size() == 1 &&
                            values[source].spec == values[value].spec &&
                            std::ranges::count(stage.inputs, source) == 1 &&
                            std::ranges::all_of(readers[source], [&](std::uint32_t reader) {
                              return reader == position || ancestry.is_ancestor(reader, position);
                            });
      if (in_place) {
        item_of_value_[value] = item;
        tail[item] = value;
        auto& all = items[item].readers;
        all.insert(all.end(), readers[value].begin(), readers[value].end());
        all.push_back(position);
      } else {
        item_of_value_[value] = static_cast<std::uint32_t>(items.size());
        items.push_back({values[value].spec->bytes(), position, readers[value]});
        tail.push_back(value);
      }
    }
    for (const std::size_t bytes : planned.prepared->executable->scratch_bytes) {
      planned.scratch_items.push_back(static_cast<std::uint32_t>(items.size()));
      items.push_back({bytes, position, {position}});
      tail.push_back(no_item);
    }
    planned.after = std::move(after[position]);
    stages_.push_back(std::move(planned));
  }
  arena_ = plan_arena(items, ancestry);
  return {};
}

Result<void> CompiledPipeline::check_binding(std::span<const DeviceBuffer> externals) const {
  const auto refuse = [](ErrorCode code, std::string reason, std::vector<Detail> details) {
    return Error{"pipeline", code, std::move(reason), std::move(details)};
  };
  if (externals.size() != externals_.size())
    return refuse(ErrorCode::arity_mismatch,
                  "wrong number of buffers for this pipeline's external values",
                  {{"expected", std::to_string(externals_.size())},
                   {"got", std::to_string(externals.size())}});
  for (std::size_t i = 0; i < externals.size(); ++i) {
    const GraphValue& value = graph_.values()[externals_[i]];
    const DeviceBuffer& buffer = externals[i];
    if (!buffer)
      return refuse(ErrorCode::invalid_argument, "no buffer is bound to an external value",
                    {{"value", value.name}});
    if (buffer.device != device_)
      return refuse(ErrorCode::wrong_device, "the buffer is on another device than the pipeline",
                    {{"value", value.name},
                     {"buffer", buffer.device->info().name},
                     {"pipeline", device_->info().name}});
    if (buffer.state()->released.load(std::memory_order_acquire))
      return refuse(ErrorCode::released, "the buffer was released", {{"value", value.name}});
    if (buffer.spec() != *value.spec)
      return refuse(buffer.spec().dtype != value.spec->dtype ? ErrorCode::dtype_mismatch
                                                             : ErrorCode::shape_mismatch,
                    "the buffer does not fit the value",
                    {{"value", value.name},
                     {"expected", value.spec->to_string()},
                     {"got", buffer.spec().to_string()}});
    for (std::size_t other = 0; other < i; ++other)
      if (externals[other].state() == buffer.state() &&
          (external_written_[externals_[i]] || external_written_[externals_[other]]))
        return refuse(ErrorCode::invalid_argument,
                      "one buffer is bound to two values and a stage writes it",
                      {{"value", value.name}, {"other", graph_.values()[externals_[other]].name}});
  }
  return {};
}

Result<CommandPtr> CompiledPipeline::run(std::span<const DeviceBuffer> externals,
                                         const CommandOptions& options) {
  STOKER_TRY(check_binding(externals));
  std::shared_ptr<Replay> replay;
  {
    const std::scoped_lock lock{mutex_};
    const auto is_idle = [](const Instance& instance) {
      return !instance.replay->busy.load(std::memory_order_acquire);
    };
    auto chosen = std::ranges::find_if(instances_, [&](const Instance& instance) {
      return is_idle(instance) &&
             std::ranges::equal(instance.bound, externals, {}, {}, &DeviceBuffer::state);
    });
    if (chosen == instances_.end()) {
      // Better to record anew in an idle arena than to hold one more of them.
      if (instances_.size() >= max_idle) chosen = std::ranges::find_if(instances_, is_idle);
      if (chosen != instances_.end()) {
        bind(*chosen, externals);
      } else {
        STOKER_ASSIGN(Instance fresh, make_instance(externals));
        instances_.push_back(std::move(fresh));
        chosen = instances_.end() - 1;
      }
    }
    replay = chosen->replay;
    replay->busy.store(true, std::memory_order_relaxed);
    // Beyond the idle ones kept, instances live just as long as their run.
    if (instances_.size() > max_idle) {
      std::swap(*chosen, instances_.back());
      instances_.pop_back();
    }
  }
  auto command = device_->submit(replay, options);
  if (!command) replay->busy.store(false, std::memory_order_release);
  return command;
}

Result<CompiledPipeline::Instance> CompiledPipeline::make_instance(
    std::span<const DeviceBuffer> externals) {
  Instance instance;
  if (arena_.bytes > 0) {
    STOKER_ASSIGN(instance.arena,
                  device_->shell().pool().lease(arena_.bytes, MemoryKind::device, "pipeline"));
  }
  bind(instance, externals);
  return instance;
}

void CompiledPipeline::bind(Instance& instance, std::span<const DeviceBuffer> externals) {
  instance.bound.clear();
  std::vector<std::shared_ptr<BufferState>> buffer_of(graph_.values().size());
  auto replay = std::make_shared<Replay>();
  for (std::size_t i = 0; i < externals.size(); ++i) {
    const ValueId value = externals_[i];
    instance.bound.push_back(externals[i].state());
    buffer_of[value] = externals[i].state();
    const bool writes = external_written_[value];
    if (external_read_first_[value] || !writes)
      replay->uses.push_back({buffer_of[value], false, false});
    if (writes) replay->uses.push_back({buffer_of[value], true, !external_read_first_[value]});
  }
  const auto operand_of = [&](ValueId value) {
    Operand operand;
    operand.bytes = graph_.values()[value].spec->bytes();
    if (buffer_of[value]) {
      operand.buffer = buffer_of[value];
    } else {
      operand.lease = instance.arena;
      operand.offset = arena_.offsets[item_of_value_[value]];
    }
    return operand;
  };
  for (const PlannedStage& planned : stages_) {
    const GraphStage& stage = graph_.stages()[planned.stage];
    CommandStep step;
    step.executable = planned.prepared->executable;
    for (const ValueId value : stage.inputs) step.inputs.push_back(operand_of(value));
    for (const ValueId value : stage.outputs) step.outputs.push_back(operand_of(value));
    for (std::size_t i = 0; i < planned.scratch_items.size(); ++i)
      step.scratch.push_back({nullptr, instance.arena, nullptr,
                              arena_.offsets[planned.scratch_items[i]],
                              step.executable->scratch_bytes[i]});
    step.after = planned.after;
    replay->steps.push_back(std::move(step));
  }
  instance.replay = std::move(replay);
}

std::size_t CompiledPipeline::trim() {
  const std::scoped_lock lock{mutex_};
  return std::erase_if(instances_, [](const Instance& instance) {
    return !instance.replay->busy.load(std::memory_order_acquire);
  });
}

std::size_t CompiledPipeline::idle_instances() const {
  const std::scoped_lock lock{mutex_};
  return static_cast<std::size_t>(std::ranges::count_if(instances_, [](const Instance& instance) {
    return !instance.replay->busy.load(std::memory_order_acquire);
  }));
}

}  // namespace stoker
