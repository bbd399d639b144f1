#include "stoker/api/tensor/transforms/jit.hpp"

#include <algorithm>
#include <deque>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/tensor/core/values.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"

namespace stoker {
namespace detail {
struct TracedProgram::State {
  struct Source {
    std::optional<std::size_t> argument;
    expr::Buffers captured;  ///< if it is none
  };
  std::string text;
  std::vector<AxisNames> names;          ///< of the results
  std::shared_ptr<DeviceClient> client;  ///< as it was open then
  /// Gone when the device closes.
  std::weak_ptr<expr::ProgramCache> open;
  std::vector<Source> sources;  ///< one for each of the program's parameters
  std::shared_ptr<const expr::LoweredProgram> program;
};

TracedProgram::TracedProgram(std::span<const Tensor> results, std::span<const Tensor> parameters,
                             std::shared_ptr<DeviceClient> client, bool may_choose_layouts,
                             const Look& look)
    : state_{std::make_unique<State>()} {
  state_->client = std::move(client);
  state_->open = state_->client->services().get<expr::ProgramCache>();
  for (const Tensor& result : results) state_->names.push_back(result.names());
  const expr::Extracted extracted = expr::extract(values_of(results));
  state_->text = extracted.program().to_text();
  for (const expr::Value& leaf : extracted.leaves()) {
    State::Source source;
    const auto found = std::ranges::find_if(
        parameters, [&](const Tensor& one) { return one.value().node() == leaf.node(); });
    if (found != parameters.end())
      source.argument = static_cast<std::size_t>(found - parameters.begin());
    else
      source.captured = leaf.node()->buffers();
    if (!source.argument && source.captured.empty())
      throw Error{"jit", ErrorCode::invalid_argument,
                  "the function returns a placeholder of another function"};
    // Kept, it would be in the place of what the function captures by the next call.
    for (const DeviceBuffer& captured : source.captured)
      if (captured.device()->is_lost()) throw *captured.device()->scheduler().lost();
    state_->sources.push_back(std::move(source));
  }
  state_->program = expr::prepare(extracted, state_->client, may_choose_layouts).value();
  if (look) look(extracted, *state_->program);
}

TracedProgram::~TracedProgram() = default;

std::vector<Tensor> TracedProgram::run(std::span<const Tensor> arguments,
                                       const CommandOptions& options,
                                       std::vector<CommandPtr>* commands) const {
  std::vector<const expr::Buffers*> leaves;
  leaves.reserve(state_->sources.size());
  std::deque<expr::Buffers> single;  // of nodes with several outputs
  for (const State::Source& source : state_->sources) {
    const expr::Buffers* leaf = &source.captured;
    if (source.argument) {
      const expr::Value& value = arguments[*source.argument].value();
      leaf = &value.node()->buffers();
      if (leaf->size() != 1) leaf = &single.emplace_back(expr::Buffers{value.buffer()});
    }
    leaves.push_back(leaf);
  }
  std::vector<Tensor> results;
  for (DeviceBuffer& buffer : expr::run(*state_->program, state_->client, expr::Leaves{leaves},
                                        options, Keep::moving_recording, commands)
                                  .value())
    results.emplace_back(expr::from_buffer(std::move(buffer)), state_->names[results.size()]);
  return results;
}

bool TracedProgram::is_over() const { return state_->client->is_lost() || state_->open.expired(); }

void TracedProgram::leave_device() const {
  if (const auto kept = state_->open.lock()) kept->forget(*state_->program);
}

const std::string& TracedProgram::text() const noexcept { return state_->text; }

std::string TracedProgram::plan() const { return state_->program->to_text(); }

std::uint64_t TracedProgram::working_bytes() const {
  const expr::LoweredProgram& program = *state_->program;
  std::vector<bool> result(program.made.size());
  for (const expr::LoweredProgram::Slot& slot : program.results)
    if (slot.made) result[slot.index] = true;
  std::uint64_t bytes = 0;
  for (const expr::LoweredProgram::Step& step : program.steps)
    if (step.pipeline) bytes += step.pipeline->plan().arena.bytes;
  for (std::size_t i = 0; i < program.made.size(); ++i)
    if (!result[i]) bytes += program.made[i].bytes();
  return bytes;
}

std::vector<DeviceBuffer> TracedProgram::captured() const {
  std::vector<DeviceBuffer> all;
  for (const State::Source& source : state_->sources)
    all.insert(all.end(), source.captured.begin(), source.captured.end());
  return all;
}

void TracedProgram::check_device(const Device& device) const {
  if (device.client() == state_->client) return;
  throw Error{"jit",
              ErrorCode::wrong_device,
              "the function was compiled for another device than its operands live on",
              {{"compiled for", state_->client->info().name}, {"operands", device.name()}}};
}

std::unique_lock<std::mutex> TracedPrograms::lock() const {
  fork_.check("jit").value();
  return std::unique_lock{mutex_};
}

std::shared_ptr<void> TracedPrograms::find(const std::string& key) {
  const auto locked = lock();
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->function;
}

std::shared_ptr<void> TracedPrograms::keep(Entry entry) {
  std::list<Entry> dropped;
  const auto locked = lock();
  if (const auto known = by_key_.find(entry.key); known != by_key_.end())
    return known->second->function;
  const auto drop = [&](std::list<Entry>::iterator one) {
    by_key_.erase(one->key);
    dropped.splice(dropped.end(), entries_, one);
  };
  for (auto one = entries_.begin(); one != entries_.end();)
    if (const auto here = one++; here->program->is_over()) drop(here);
  if (entries_.size() >= most) drop(std::prev(entries_.end()));
  entries_.push_front(std::move(entry));
  try {
    by_key_.emplace(entries_.front().key, entries_.begin());
  } catch (...) {
    entries_.pop_front();
    throw;
  }
  return entries_.front().function;
}

std::size_t TracedPrograms::size() const {
  const auto locked = lock();
  return entries_.size();
}

std::size_t TracedPrograms::trim() {
  std::list<Entry> dropped;
  const auto locked = lock();
  by_key_.clear();
  dropped.swap(entries_);
  return dropped.size();
}

void check_compiled(std::span<const Tensor> given, std::span<const TensorSpec> expected,
                    bool same_structure) {
  if (any_tracked(given)) refuse_nesting("a compiled function");
  if (!same_structure || given.size() != expected.size())
    throw Error{"jit",
                ErrorCode::shape_mismatch,
                "the operands have another structure than the function was compiled for",
                {{"expected", std::to_string(expected.size()) + " tensors"},
                 {"got", std::to_string(given.size()) + " tensors"}}};
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].spec() != expected[i])
      throw Error{"jit",
                  given[i].shape() != expected[i].shape ? ErrorCode::shape_mismatch
                                                        : ErrorCode::dtype_mismatch,
                  "operand " + std::to_string(i) + ": the function was compiled for " +
                      expected[i].to_string() + ", got " + given[i].spec().to_string(),
                  {{"operand", std::to_string(i)},
                   {"expected", expected[i].to_string()},
                   {"got", given[i].spec().to_string()}}};
}

void refuse_nesting(const char* what) {
  throw Error{"jit", ErrorCode::invalid_argument,
              std::string{what} + " is called inside of grad() or of another traced function"};
}

bool any_tracked(std::span<const Tensor> tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& tensor) {
    return tensor.has_value() && tensor.value().node()->tracked();
  });
}

std::vector<Tensor> placeholders(std::span<const Tensor> tensors) {
  std::vector<Tensor> made;
  for (const Tensor& tensor : tensors)
    made.emplace_back(expr::parameter(tensor.spec()), tensor.names());
  return made;
}

Device started(std::span<const Tensor> tensors) {
  eval(tensors);
  Device device;
  for (const Tensor& tensor : tensors) {
    const Device here{tensor.value().buffer().device()};
    if (device && !(device == here))
      throw Error{"jit",
                  ErrorCode::wrong_device,
                  "the operands live on different devices",
                  {{"one", device.name()}, {"other", here.name()}}};
    device = here;
  }
  return device ? device : current_device();
}

std::string signature(std::span<const Tensor> tensors, const DeviceClient& client) {
  std::string key;
  const auto number = [&](auto value) { key += std::to_string(value) + ','; };
  number(reinterpret_cast<std::uintptr_t>(&client));
  number(tensors.size());
  for (const Tensor& tensor : tensors) {
    number(static_cast<unsigned>(tensor.dtype()));
    number(tensor.rank());
    for (const std::int64_t extent : tensor.shape()) number(extent);
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
      const std::string& name = tensor.names()[axis];
      number(name.size());
      key += name;
    }
  }
  return key;
}

}  // namespace detail

std::string graph_text(std::span<const Tensor> tensors) {
  return expr::extract(detail::values_of(tensors)).program().to_text();
}

std::string plan_text(std::span<const Tensor> tensors) {
  return expr::plan_of(detail::values_of(tensors), [] { return current_device().client(); })
      ->to_text();
}

std::string graph_dot(std::span<const Tensor> tensors) {
  return expr::extract(detail::values_of(tensors)).program().to_dot();
}

}  // namespace stoker
