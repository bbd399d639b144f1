#include "stoker/pipeline/kernel_graph/pipeline_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "stoker/actors/device/device_actor.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/device/commands/command_work.hpp"

namespace stoker {
namespace {

constexpr std::uint32_t no_item = PipelinePlan::no_item;
/// An arena is a buffer of bytes, of which a shape has so many.
constexpr std::uint64_t most_arena_bytes = std::uint64_t{1} << 58;

/// Edges between stages from who writes and reads which value, in the order of execution.
std::vector<std::vector<std::uint32_t>> hazards(const KernelGraph& graph,
                                                const std::vector<std::uint32_t>& order) {
  struct LastUse {
    std::optional<std::uint32_t> writer;
    std::vector<std::uint32_t> readers;
  };
  std::vector<LastUse> last(graph.values().size());
  std::vector<std::vector<std::uint32_t>> after(order.size());
  std::vector<std::uint32_t> last_dependent(order.size());  // of each: its position, from 1
  const auto depend = [&](std::uint32_t position, std::uint32_t earlier) {
    if (earlier == position || last_dependent[earlier] == position + 1) return;
    last_dependent[earlier] = position + 1;
    after[position].push_back(earlier);
  };
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    const GraphStage& stage = graph.stages()[order[position]];
    for (const ValueId input : stage.inputs) {
      for (const ValueId earlier : graph.values()[input].after)
        if (last[earlier].writer) depend(position, *last[earlier].writer);
      const ValueId value = graph.values()[input].memory;
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

/// Where each buffer was first met, by its id (from 1): a table with open addressing, since a run of a
/// pipeline with a thousand buffers should not compare each with each.
class FirstPlaces {
 public:
  explicit FirstPlaces(std::size_t count) : slots_(std::bit_ceil(2 * count + 1)) {}
  /// The place given with the first call for this id.
  std::size_t first_with(std::uint64_t id, std::size_t place) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = id & mask;  // ids are consecutive: they spread by themselves
    for (; slots_[at].id != 0; at = (at + 1) & mask)
      if (slots_[at].id == id) return slots_[at].place;
    slots_[at] = {id, place};
    return place;
  }

 private:
  struct Slot {
    std::uint64_t id = 0;
    std::size_t place = 0;
  };
  boost::container::small_vector<Slot, 64> slots_;
};

}  // namespace

Result<std::shared_ptr<const PipelinePlan>> PipelinePlan::make(KernelGraph checked,
                                                               DeviceClient& device) {
  STOKER_ASSIGN(const std::vector<std::uint32_t> order, check_graph(checked));
  auto plan = std::make_shared<PipelinePlan>();
  plan->graph = std::move(checked);
  STOKER_TRY(plan->place(order, device));
  plan->replay = std::make_shared<const ReplayPlan>(plan->make_replay());
  return std::shared_ptr<const PipelinePlan>{std::move(plan)};
}

Result<void> PipelinePlan::place(const std::vector<std::uint32_t>& order, DeviceClient& device) {
  const auto& values = graph.values();
  read_first.resize(values.size());
  for (ValueId id = 0; id < values.size(); ++id)
    if (values[id].external) externals.push_back(id);

  auto after = hazards(graph, order);
  const Ancestry ancestry{after};
  std::vector<std::vector<std::uint32_t>> readers(values.size());
  written.resize(values.size());
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    const GraphStage& stage = graph.stages()[order[position]];
    for (const ValueId input : stage.inputs) {
      const ValueId value = values[input].memory;
      readers[value].push_back(position);
      if (!written[value]) read_first[value] = true;
    }
    for (const ValueId value : stage.outputs) written[value] = true;
  }

  std::vector<ArenaItem> items;
  std::vector<ValueId> tail;  // the newest value in each item
  item_of_value.assign(values.size(), no_item);
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    const GraphStage& stage = graph.stages()[order[position]];
    PlannedStage planned;
    planned.stage = order[position];
    std::vector<TensorSpec> inputs;
    for (const ValueId value : stage.inputs) inputs.push_back(*values[value].spec);
    auto prepared = device.scheduler().executables().get(stage.kernel, inputs, stage.params);
    if (!prepared) return prepared.error().with("stage", std::to_string(order[position]));
    planned.prepared = *prepared;
    const Executable& executable = *planned.prepared->executable;
    cost_ns += executable.cost_ns;
    if (std::isfinite(executable.cost_ns))
      gain_ns += executable.cost_ns - executable.shared_cost_ns;

    for (const ValueId value : stage.outputs) {
      if (values[value].external) continue;
      // An elementwise kernel whose input nobody needs afterwards writes over it.
      const ValueId source = stage.inputs.empty() ? value : values[stage.inputs[0]].memory;
      const std::uint32_t item = source == value ? no_item : item_of_value[source];
      const bool in_place =
          stage.kernel->in_place && item != no_item && tail[item] == source &&
          stage.outputs.size() == 1 && values[stage.inputs[0]].spec == values[value].spec &&
          std::ranges::count_if(
              stage.inputs, [&](ValueId input) { return values[input].memory == source; }) == 1 &&
          std::ranges::all_of(readers[source], [&](std::uint32_t reader) {
            return reader == position || ancestry.is_ancestor(reader, position);
          });
      if (in_place) {
        item_of_value[value] = item;
        tail[item] = value;
        // Those who read the memory before are over when this stage begins.
        items[item].readers = readers[value];
        items[item].readers.push_back(position);
      } else {
        item_of_value[value] = static_cast<std::uint32_t>(items.size());
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
    stages.push_back(std::move(planned));
  }
  arena = plan_arena(items, ancestry);
  if (arena.bytes > most_arena_bytes)
    return Error{"pipeline",
                 ErrorCode::limit_exceeded,
                 "the values between the stages take more memory than there can be",
                 {{"limit", std::to_string(most_arena_bytes)}}};
  // Values without elements need no memory but a place.
  if (!items.empty()) arena.bytes = std::max<std::uint64_t>(arena.bytes, 1);
  return {};
}

ReplayPlan PipelinePlan::make_replay() const {
  ReplayPlan made;
  const auto arena_number = static_cast<std::uint32_t>(externals.size());
  std::vector<std::uint32_t> buffer_of(graph.values().size(), arena_number);
  for (std::uint32_t i = 0; i < externals.size(); ++i) {
    const ValueId value = externals[i];
    buffer_of[value] = i;
    if (read_first[value] || !written[value]) made.uses.push_back({i, false, false});
    if (written[value]) made.uses.push_back({i, true, !read_first[value]});
  }
  if (arena.bytes > 0) made.uses.push_back({arena_number, true, true});
  const auto operand_of = [&](ValueId value) {
    const ValueId stored = graph.values()[value].memory;
    const bool internal = buffer_of[stored] == arena_number;
    return ReplayPlan::Operand{buffer_of[stored],
                               internal ? arena.offsets[item_of_value[stored]] : 0,
                               graph.values()[value].spec->bytes()};
  };
  for (const PlannedStage& planned : stages) {
    const GraphStage& stage = graph.stages()[planned.stage];
    ReplayPlan::Step& step = made.steps.emplace_back();
    step.executable = planned.prepared->executable;
    for (const ValueId value : stage.inputs) step.inputs.push_back(operand_of(value));
    for (const ValueId value : stage.outputs) step.outputs.push_back(operand_of(value));
    for (std::size_t i = 0; i < planned.scratch_items.size(); ++i)
      step.scratch.push_back({arena_number, arena.offsets[planned.scratch_items[i]],
                              step.executable->scratch_bytes[i]});
    step.after = planned.after;
  }
  return made;
}

Result<void> PipelinePlan::check_binding(std::span<const DeviceBuffer* const> buffers,
                                         const DeviceClient& device) const {
  const auto refuse = [](ErrorCode code, std::string reason, std::vector<Detail> details) {
    return Error{"pipeline", code, std::move(reason), std::move(details)};
  };
  if (buffers.size() != externals.size())
    return refuse(
        ErrorCode::arity_mismatch, "wrong number of buffers for this pipeline's external values",
        {{"expected", std::to_string(externals.size())}, {"got", std::to_string(buffers.size())}});
  FirstPlaces seen{buffers.size()};
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const GraphValue& value = graph.values()[externals[i]];
    const DeviceBuffer& buffer = *buffers[i];
    if (!buffer)
      return refuse(ErrorCode::invalid_argument, "an empty buffer is bound to a value",
                    {{"value", value.name}});
    const BufferActor& behind = actor_behind(buffer);
    const bool elsewhere = behind.device().get() != &device;
    if (elsewhere && buffer.device()->is_lost())
      return buffer.device()->scheduler().lost()->with("value", value.name);
    if (elsewhere)
      return refuse(ErrorCode::wrong_device, "the buffer is on another device than the pipeline",
                    {{"value", value.name},
                     {"buffer", buffer.device()->info().name},
                     {"pipeline", device.info().name}});
    if (behind.state()->released.load(std::memory_order_acquire)) return released(i);
    if (!same_memory(behind.state()->spec, *value.spec))
      return refuse(buffer.spec().dtype != value.spec->dtype ? ErrorCode::dtype_mismatch
                                                             : ErrorCode::shape_mismatch,
                    "the buffer does not fit the value",
                    {{"value", value.name},
                     {"expected", value.spec->to_string()},
                     {"got", buffer.spec().to_string()}});
    const std::size_t other = seen.first_with(behind.state()->id, i);
    if (other != i && (written[externals[i]] || written[externals[other]]))
      return refuse(ErrorCode::invalid_argument,
                    "one buffer is bound to two values and a stage writes it",
                    {{"value", value.name}, {"other", graph.values()[externals[other]].name}});
  }
  return {};
}

Result<void> PipelinePlan::check_released(
    std::span<const std::shared_ptr<BufferState>> binding) const {
  for (std::size_t i = 0; i < binding.size(); ++i)
    if (binding[i]->released.load(std::memory_order_acquire)) return released(i);
  return {};
}

Error PipelinePlan::released(std::size_t external) const {
  return Error{"pipeline",
               ErrorCode::released,
               "the buffer was released",
               {{"value", graph.values()[externals[external]].name}}};
}

}  // namespace stoker
