#include "stoker/pipeline/tensor/lowering/evaluation.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/kernels/glsl/compiler.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/graph/host_step.hpp"
#include "stoker/pipeline/tensor/passes/passes.hpp"
#include "stoker/runtime/execution/parker.hpp"
#include "stoker/runtime/futures/thread_waits.hpp"
#include "stoker/runtime/settings.hpp"

namespace stoker::expr {

namespace {

std::size_t kernels_of(const LoweredProgram& program) {
  std::size_t kernels = 0;
  for (const LoweredProgram::Step& step : program.steps) kernels += step.origins.size();
  return kernels;
}

}  // namespace

ProgramCache::ProgramCache()
    : compile_{[compiler = std::make_shared<GlslCompiler>(cache_directory())](
                   const Shader& shader, const ShaderVariant& variant) {
        return compiler->try_compile(shader, variant);
      }} {}

std::shared_ptr<const LoweredProgram> ProgramCache::find(const std::string& key) {
  const std::scoped_lock lock{mutex_};
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) {
    ++counters_.misses;
    return nullptr;
  }
  ++counters_.hits;
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->program;
}

void ProgramCache::add(const std::string& key, std::shared_ptr<const LoweredProgram> program) {
  std::list<Entry> dropped;  // outside the lock
  const std::scoped_lock lock{mutex_};
  if (by_key_.contains(key)) return;
  counters_.kernels += kernels_of(*program);
  entries_.push_front({key, std::move(program)});
  by_key_.emplace(entries_.front().key, entries_.begin());
  while (entries_.size() > most || (entries_.size() > 1 && counters_.kernels > most_kernels))
    drop(std::prev(entries_.end()), dropped);
}

void ProgramCache::forget(const LoweredProgram& program) {
  std::list<Entry> dropped;  // outside the lock
  const std::scoped_lock lock{mutex_};
  const auto entry = std::ranges::find_if(
      entries_, [&](const Entry& one) { return one.program.get() == &program; });
  if (entry != entries_.end()) drop(entry, dropped);
}

void ProgramCache::drop(std::list<Entry>::iterator entry, std::list<Entry>& dropped) {
  counters_.kernels -= kernels_of(*entry->program);
  by_key_.erase(entry->key);
  dropped.splice(dropped.begin(), entries_, entry);
}

ProgramCache::Counters ProgramCache::counters() const {
  const std::scoped_lock lock{mutex_};
  Counters counters = counters_;
  counters.programs = entries_.size();
  return counters;
}

Result<std::shared_ptr<const LoweredProgram>> prepare(const Extracted& extracted,
                                                      const std::string& key,
                                                      const std::shared_ptr<DeviceClient>& device,
                                                      std::uint32_t* refused,
                                                      bool may_choose_layouts) {
  STOKER_TRY(device->actor().strand()->check_process("evaluate"));  // its driver is the parent's
  const auto cache = device->services().get<ProgramCache>();
  if (auto known = cache->find(key)) return known;
  Program program = extracted.program();
  optimize(program, may_choose_layouts && device->info().type == DeviceType::cpu);
  STOKER_ASSIGN(std::shared_ptr<const LoweredProgram> made,
                lower(program, device, cache->shader_compiler(), refused));
  cache->add(key, made);
  return made;
}

Result<std::shared_ptr<const LoweredProgram>> prepare(const Extracted& extracted,
                                                      const std::shared_ptr<DeviceClient>& device,
                                                      bool may_choose_layouts) {
  std::string key = extracted.key();
  // Elsewhere no program chooses any.
  if (!may_choose_layouts && device->info().type == DeviceType::cpu) key += "\nlayouts as written";
  return prepare(extracted, key, device, nullptr, may_choose_layouts);
}

namespace {

const DeviceBuffer& buffer_at(const LoweredProgram::Slot& slot, Leaves leaves,
                              std::span<const DeviceBuffer> made) {
  return slot.made ? made[slot.index] : (*leaves[slot.index])[slot.output];
}

std::vector<const Buffers*> pointers_to(std::span<const Buffers> leaves) {
  std::vector<const Buffers*> pointers;
  pointers.reserve(leaves.size());
  for (const Buffers& leaf : leaves) pointers.push_back(&leaf);
  return pointers;
}

/// Who may run a step inside of the call.
enum class Caller : std::uint8_t { other, plain_thread, thread_that_waits };

Caller caller_with(const CommandOptions& options) {
  // A step that runs here takes less time than a cancel() on its way.
  const bool has_limits = options.deadline || options.cancel.cancelled() || !options.waits.empty();
  if (has_limits || !blocks_thread()) return Caller::other;
  return this_thread_has_waited() ? Caller::thread_that_waits : Caller::plain_thread;
}

/// As start(). What the caller itself has run has no command.
Result<std::vector<CommandPtr>> start_steps(const LoweredProgram& program,
                                            const std::shared_ptr<DeviceClient>& device,
                                            Leaves leaves, std::span<const DeviceBuffer> made,
                                            const CommandOptions& options, Keep keep,
                                            Caller caller) {
  std::vector<CommandPtr> commands;
  commands.reserve(program.steps.size());
  for (const LoweredProgram::Step& step : program.steps) {
    if (!step.pipeline) {
      Buffers inputs;
      for (const LoweredProgram::Slot& slot : step.slots)
        inputs.push_back(buffer_at(slot, leaves, made));
      Buffers outputs;
      for (const LoweredProgram::Slot& slot : step.outputs)
        outputs.push_back(buffer_at(slot, leaves, made));
      STOKER_TRY(step.host->start(device, inputs, outputs, options));
      commands.emplace_back();
      continue;
    }
    BufferList bound;
    for (const LoweredProgram::Slot& slot : step.slots)
      bound.push_back(&buffer_at(slot, leaves, made));
    if (caller != Caller::other && step.pipeline->run_here({bound.data(), bound.size()},
                                                           caller == Caller::thread_that_waits)) {
      commands.emplace_back();
      continue;
    }
    STOKER_ASSIGN(CommandPtr command,
                  step.pipeline->run({bound.data(), bound.size()}, options, keep));
    command->observe();  // who reads the results hears of a failure
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace

Result<std::vector<CommandPtr>> start(const LoweredProgram& program,
                                      const std::shared_ptr<DeviceClient>& device,
                                      std::span<const Buffers> leaves,
                                      std::span<const DeviceBuffer> made,
                                      const CommandOptions& options, Keep keep) {
  return start_steps(program, device, pointers_to(leaves), made, options, keep, Caller::other);
}

Result<std::vector<DeviceBuffer>> run(const LoweredProgram& program,
                                      const std::shared_ptr<DeviceClient>& device,
                                      std::span<const Buffers> leaves,
                                      const CommandOptions& options) {
  return run(program, device, Leaves{pointers_to(leaves)}, options);
}

Result<std::vector<DeviceBuffer>> run(const LoweredProgram& program,
                                      const std::shared_ptr<DeviceClient>& device, Leaves leaves,
                                      const CommandOptions& options, Keep keep,
                                      std::vector<CommandPtr>* commands) {
  // A host step fills its results while they are held, so they need memory from the start.
  std::vector<bool> held(program.made.size());
  for (const LoweredProgram::Step& step : program.steps)
    if (!step.pipeline)
      for (const LoweredProgram::Slot& slot : step.outputs)
        if (slot.made) held[slot.index] = true;
  Buffers made;
  made.reserve(program.made.size());
  for (std::size_t i = 0; i < program.made.size(); ++i) {
    const TensorSpec& spec = program.made[i];
    STOKER_ASSIGN(DeviceBuffer buffer,
                  held[i] ? device->make_buffer(spec) : device->make_result(spec));
    made.push_back(std::move(buffer));
  }
  STOKER_ASSIGN(std::vector<CommandPtr> started,
                start_steps(program, device, leaves, made, options, keep, caller_with(options)));
  if (commands != nullptr) *commands = std::move(started);
  std::vector<DeviceBuffer> results;
  results.reserve(program.results.size());
  for (const LoweredProgram::Slot& slot : program.results)
    results.push_back(buffer_at(slot, leaves, made));
  return results;
}

namespace {

std::shared_ptr<DeviceClient> device_of_leaves(std::span<const Buffers> leaves) {
  std::shared_ptr<DeviceClient> device;
  for (const Buffers& leaf : leaves)
    for (const DeviceBuffer& buffer : leaf) {
      if (!device) device = buffer.device();
      if (buffer.device() != device)
        for (const auto& one : {device, buffer.device()}) {
          one->actor().strand()->check_process("evaluate").value();
          if (one->is_lost()) throw *one->scheduler().lost();
        }
      if (buffer.device() != device)
        throw Error{"evaluate",
                    ErrorCode::wrong_device,
                    device->info().name == buffer.device()->info().name
                        ? "the operands live on devices of different systems"
                        : "the operands live on different devices",
                    {{"one", device->info().name}, {"other", buffer.device()->info().name}}};
    }
  return device;
}

}  // namespace

std::shared_ptr<DeviceClient> device_of(std::span<const Value> values) {
  return device_of_leaves(extract(values).buffers());
}

std::shared_ptr<const LoweredProgram> plan_of(
    std::span<const Value> values,
    const std::function<std::shared_ptr<DeviceClient>()>& otherwise) {
  const Extracted extracted = extract(values);
  std::shared_ptr<DeviceClient> where = device_of_leaves(extracted.buffers());
  if (!where) where = otherwise();
  return prepare(extracted, where).value();
}

void evaluate(std::span<const Value> values,
              const std::function<std::shared_ptr<DeviceClient>()>& otherwise,
              const CommandOptions& options) {
  Values wanted;
  for (const Value& value : values)
    if (!value.node()->is_known()) wanted.push_back(value);
  if (wanted.empty()) return;
  // A node is known as a whole.
  Values results;
  for (const Value& value : wanted)
    for (std::uint32_t output = 0; output < value.node()->specs().size(); ++output)
      results.emplace_back(value.node(), output);

  const Extracted extracted = extract(results);
  for (const Buffers& leaf : extracted.buffers())
    if (leaf.empty())
      throw Error{"evaluate", ErrorCode::invalid_argument,
                  "the value depends on a parameter of a function that is being traced, and is not "
                  "known before it runs"};
  std::shared_ptr<DeviceClient> where = device_of_leaves(extracted.buffers());
  if (!where) where = otherwise();
  const auto program = prepare(extracted, where).value();
  const std::vector<DeviceBuffer> made = run(*program, where, extracted.buffers(), options).value();
  std::size_t next = 0;
  for (const Value& value : wanted) {
    Buffers buffers;
    for (std::size_t output = 0; output < value.node()->specs().size(); ++output)
      buffers.push_back(made[next++]);
    value.node()->set_buffers(std::move(buffers));
  }
}

}  // namespace stoker::expr
