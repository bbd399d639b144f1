#include "stoker/pipeline/script/run/evaluator.hpp"

#include <algorithm>
#include <iterator>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/script/run/next_results.hpp"
#include "stoker/pipeline/script/run/told_calls.hpp"
#include "stoker/pipeline/script/run/waiting.hpp"
#include "stoker/pipeline/tensor/graph/node_quota.hpp"

namespace stoker::script {
namespace {

constexpr std::size_t max_numbers = 32;
// The collector takes a step after this many bytes on the device.
constexpr std::size_t pressure_step = std::size_t{16} << 20;
// What a buffer takes at least, on the device and for its handles here.
constexpr std::size_t smallest_buffer = 256;
constexpr std::size_t handle_bytes = 1024;
// What a node takes on the host before it is on the account, near enough.
constexpr std::size_t node_bytes = 640;

std::size_t charged_bytes(const TensorSpec& spec) {
  return std::max(spec.bytes(), smallest_buffer);
}

std::size_t bytes_of(const expr::LoweredProgram& program) {
  std::size_t bytes = 0;
  for (const expr::LoweredProgram::Step& step : program.steps)
    if (step.pipeline) bytes += step.pipeline->plan().arena.bytes;
  for (const TensorSpec& spec : program.made) bytes += spec.bytes();
  return bytes;
}

}  // namespace

Evaluator::Evaluator(std::shared_ptr<DeviceClient> device, Budget& budget,
                     GarbageCollector& garbage, ScriptObserver* observer)
    : device_{std::move(device)}, budget_{budget}, garbage_{garbage}, flights_{observer} {}

Result<std::vector<expr::Value>> Evaluator::call(
    std::string_view name, int line, std::span<const expr::Value> inputs,
    const std::function<std::vector<expr::Value>()>& make) {
  CallSite site{.name = name, .line = line};
  for (const expr::Value& input : inputs)
    if (!input.is_known())
      site.depth = std::max(site.depth, account_of(*input.node())->call.depth + 1);
  if (site.depth > max_depth) {
    STOKER_TRY(evaluate(inputs));
    site.depth = 1;
  }
  site.number = expr::Node::next_serial();
  const auto make_within = [&] {
    const expr::NodeQuota quota{budget_.memory_left() / node_bytes};
    return detail::call_as_result<std::vector<expr::Value>>("script", make);
  };
  auto made = make_within();
  if (made.has_error() && made.error().code() == ErrorCode::budget_exceeded) {
    garbage_.collect();
    made = make_within();
  }
  if (made.has_error() && made.error().code() == ErrorCode::budget_exceeded) return made;
  if (made.has_error()) return about_call(made.error(), name, inputs);
  STOKER_TRY(adopt(*made, site.number, site));
  return made;
}

Result<void> Evaluator::adopt(std::span<const expr::Value> values, std::uint64_t begin,
                              const CallSite& site) {
  expr::Values open(values.begin(), values.end());
  while (!open.empty()) {
    const expr::Value value = std::move(open.back());
    open.pop_back();
    expr::Node& node = *value.node();
    if (node.serial() < begin || node.attachment() != nullptr) continue;
    const std::size_t bytes = script::bytes_of(node);
    STOKER_TRY(take_memory(bytes));
    auto account = std::make_unique<NodeAccount>(budget_, bytes, site);
    // Numbers that the call itself has put on the device.
    if (node.is_known()) {
      STOKER_ASSIGN(account->buffers, charge(node.specs()));
    }
    node.attach(std::move(account));
    for (const expr::Value& input : node.inputs()) open.push_back(input);
  }
  return {};
}

Result<MemoryLoan> Evaluator::lend(std::size_t bytes) {
  if (!budget_.take_memory(bytes)) {
    garbage_.collect();
    if (!budget_.take_memory(bytes)) return budget_.memory_used_up(bytes);
  }
  return MemoryLoan{budget_, bytes};
}

Result<void> Evaluator::room_for_buffer(std::size_t bytes) {
  if (!budget_.take_buffer(bytes)) {
    garbage_.collect();
    if (!budget_.take_buffer(bytes)) return budget_.buffers_used_up(bytes);
  }
  budget_.give_buffer(bytes);
  return {};
}

std::size_t Evaluator::room_for_nodes() {
  garbage_.collect();
  return budget_.memory_left() / node_bytes;
}

Result<void> Evaluator::take_memory(std::size_t bytes) {
  if (budget_.take_memory(bytes)) return {};
  garbage_.collect();
  if (budget_.take_memory(bytes)) return {};
  budget_.exhaust_memory();
  return budget_.why();
}

Result<Evaluator::ChargePtr> Evaluator::charge(std::span<const TensorSpec> buffers) {
  std::size_t bytes = 0;
  for (const TensorSpec& spec : buffers) bytes += charged_bytes(spec);
  pressure_ += bytes;
  if (pressure_ >= pressure_step) garbage_.step(std::exchange(pressure_, 0));
  STOKER_TRY(room_for_buffer(bytes));
  const std::size_t handles = buffers.size() * handle_bytes;
  STOKER_TRY(take_memory(handles));
  static_cast<void>(budget_.take_buffer(bytes));
  return std::make_shared<const BufferCharge>(budget_, bytes, handles);
}

Result<DeviceBuffer> Evaluator::make_buffer(const TensorSpec& spec,
                                            const std::span<const std::byte>* contents) {
  const auto make = [&] {
    return contents != nullptr ? device_->make_buffer(spec, *contents) : device_->make_buffer(spec);
  };
  auto buffer = make();
  const auto full = [&] {
    return buffer.has_error() && buffer.error().code() == ErrorCode::out_of_memory;
  };
  if (full()) {
    garbage_.collect();
    buffer = make();
  }
  // What is under way gives back the memory of its inputs and of what lies in between.
  while (full() && !flights_.empty()) {
    STOKER_TRY(wait_for_oldest());
    buffer = make();
  }
  return buffer;
}

Result<expr::Value> Evaluator::known(DeviceBuffer buffer, ChargePtr charge) {
  const expr::Value value = expr::from_buffer(std::move(buffer));
  const std::size_t bytes = script::bytes_of(*value.node());
  STOKER_TRY(take_memory(bytes));
  auto account = std::make_unique<NodeAccount>(budget_, bytes, CallSite{});
  account->buffers = std::move(charge);
  value.node()->attach(std::move(account));
  return value;
}

Result<expr::Value> Evaluator::constant(const TensorSpec& spec, std::span<const std::byte> bytes) {
  STOKER_ASSIGN(ChargePtr taken, charge({&spec, 1}));
  STOKER_ASSIGN(DeviceBuffer buffer, make_buffer(spec, &bytes));
  return known(std::move(buffer), std::move(taken));
}

Result<expr::Value> Evaluator::take(const DeviceBuffer& buffer) {
  STOKER_ASSIGN(ChargePtr taken, charge({&buffer.spec(), 1}));
  return known(buffer, std::move(taken));
}

Result<expr::Value> Evaluator::number(const TensorSpec& spec, std::span<const std::byte> bytes) {
  const auto found = std::ranges::find_if(numbers_, [&](const KeptNumber& one) {
    return one.spec == spec && std::ranges::equal(one.bytes, bytes);
  });
  if (found != numbers_.end()) {
    numbers_.splice(numbers_.begin(), numbers_, found);
  } else {
    STOKER_ASSIGN(ChargePtr taken, charge({&spec, 1}));
    STOKER_ASSIGN(DeviceBuffer buffer, make_buffer(spec, &bytes));
    numbers_.push_front({spec, {bytes.begin(), bytes.end()}, std::move(buffer), std::move(taken)});
    if (numbers_.size() > max_numbers) numbers_.pop_back();
  }
  return known(numbers_.front().buffer, numbers_.front().charge);
}

Result<void> Evaluator::evaluate(std::span<const expr::Value> values) {
  while (true) {
    const Nodes results = next_results(values, max_nodes);
    if (results.empty()) return {};
    if (!budget_.spend(0))
      return budget_.why();  // between two programs, which cannot be stopped themselves
    STOKER_TRY(run(results));
  }
}

Result<void> Evaluator::run(const Nodes& nodes) {
  std::vector<expr::Value> results;  // a node is known as a whole
  for (const auto& node : nodes)
    for (std::uint32_t output = 0; output < node->specs().size(); ++output)
      results.emplace_back(node, output);
  const expr::Extracted extracted = expr::extract(results);
  STOKER_ASSIGN(const auto program, program_of(extracted));
  const std::size_t bytes = bytes_of(*program);
  STOKER_TRY(wait_for_room(bytes));

  // Charges and buffers belong to their nodes only once the run was accepted.
  std::vector<ChargePtr> charges;
  for (const auto& node : nodes) {
    STOKER_ASSIGN(ChargePtr taken, charge(node->specs()));
    charges.push_back(std::move(taken));
  }
  std::vector<DeviceBuffer> made;
  for (const TensorSpec& spec : program->made) {
    STOKER_ASSIGN(DeviceBuffer buffer, make_buffer(spec, nullptr));
    made.push_back(std::move(buffer));
  }
  // A pipeline's command is cancelled itself.
  CommandOptions options;
  if (std::ranges::any_of(program->steps, [](const auto& step) { return !step.pipeline; }))
    options.cancel = stop_.token();
  STOKER_ASSIGN(const std::vector<CommandPtr> commands,
                expr::start(*program, device_, extracted.buffers(), made, options));

  ++report_.evaluations;
  for (std::size_t i = 0; i < extracted.size(); ++i)
    if (!extracted.node(i).is_known()) account_of(extracted.node(i))->ran = true;
  std::vector<expr::Buffers> buffers;
  // What simplifies to a value that is known already is written by those who write that one.
  std::vector<Commands> others;
  const bool hands_on =
      std::ranges::any_of(program->results, [](auto& slot) { return !slot.made; });
  const std::vector<expr::Value> leaves =
      hands_on ? extracted.leaves() : std::vector<expr::Value>{};
  std::size_t next = 0;
  for (const auto& node : nodes) {
    expr::Buffers& own = buffers.emplace_back();
    others.emplace_back();
    for (std::size_t output = 0; output < node->specs().size(); ++output) {
      const expr::LoweredProgram::Slot& slot = program->results[next++];
      own.push_back(slot.made ? made[slot.index] : extracted.buffers()[slot.index][slot.output]);
      if (slot.made) continue;
      const NodeAccount* const leaf = account_of(*leaves[slot.index].node());
      if (leaf && leaf->writers)
        others.back().insert(others.back().end(), leaf->writers->begin(), leaf->writers->end());
    }
  }
  STOKER_ASSIGN(Flight flight, flight_of(extracted, *program, commands, buffers));
  const auto writers = std::make_shared<Commands>();
  for (const Flight::Part& part : flight.parts) writers->push_back(part.command);
  flight.bytes = bytes;
  if (!flight.parts.empty()) flights_.add(std::move(flight));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    NodeAccount& account = *account_of(*nodes[i]);
    account.buffers = std::move(charges[i]);
    account.writers = writers;
    if (!others[i].empty()) {
      others[i].insert(others[i].end(), writers->begin(), writers->end());
      account.writers = std::make_shared<const Commands>(std::move(others[i]));
    }
    nodes[i]->set_buffers(std::move(buffers[i]));
  }
  flights_.settle(failures_);
  return {};
}

Result<Flight> Evaluator::flight_of(const expr::Extracted& extracted,
                                    const expr::LoweredProgram& program,
                                    std::span<const CommandPtr> commands,
                                    std::span<const expr::Buffers> results) {
  Flight flight;
  std::vector<ScriptCommand> by_host;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    std::vector<ScriptCommand> calls = told_calls(extracted, program, program.steps[i]);
    report_.commands += calls.size();
    if (program.steps[i].pipeline)
      flight.parts.push_back({commands[i], program.steps[i].pipeline, std::move(calls)});
    else
      std::ranges::move(calls, std::back_inserter(by_host));
  }
  if (by_host.empty()) return flight;
  // A read of nothing has its place behind the writes, and suffers from what failed.
  for (const expr::Buffers& buffers : results)
    for (const DeviceBuffer& buffer : buffers) {
      STOKER_ASSIGN(CommandPtr end, device_->read_into(buffer, 0, {}, [](const Error*) {}));
      end->observe();
      flight.parts.push_back({std::move(end), nullptr, std::exchange(by_host, {})});
    }
  return flight;
}

Result<std::shared_ptr<const expr::LoweredProgram>> Evaluator::program_of(
    const expr::Extracted& extracted) {
  const std::string key = extracted.key();
  std::uint32_t refused = expr::Instruction::no_origin;
  const auto prepare = [&] { return expr::prepare(extracted, key, device_, &refused); };
  auto program = [&] {
    const Budget::Away away{budget_};
    return detail::call_as_result<std::shared_ptr<const expr::LoweredProgram>>("script", prepare);
  }();
  if (program.has_error()) {
    if (refused >= extracted.size()) return program.error();
    // A device may refuse what the rules allow: says which of the calls it was.
    const expr::Node& node = extracted.node(refused);
    const CallSite& site = account_of(node)->call;
    const expr::Values inputs = node.inputs();
    return about_call(program.error(), site.name, inputs).with("line", std::to_string(site.line));
  }
  // About as long as compiling takes, also where another script has had that done.
  const std::uint64_t cost = 5000 + 1000 * extracted.size();
  if (structures_.note(key) && !budget_.spend(cost)) return budget_.why();
  return program;
}

bool Evaluator::wait_until_ready(FutureCore& future) {
  future.observe();
  if (future.ready()) return true;
  const Budget::Away away{budget_};
  const bool ready = wait_unless_cancelled(future, budget_.cancel());
  budget_.begin_turn();
  return ready;
}

Result<void> Evaluator::wait_for_oldest() {
  // Its outcome is its readers' business, or that of finish().
  const CommandPtr oldest = flights_.oldest();
  if (oldest && !wait_until_ready(*oldest)) return cancelled();
  flights_.settle(failures_);
  return {};
}

Result<void> Evaluator::wait_for_room(std::size_t bytes) {
  while (flights_.full(bytes)) STOKER_TRY(wait_for_oldest());
  return {};
}

Result<void> Evaluator::wait_for(const CommandPtr& command) {
  if (!wait_until_ready(*command)) return cancelled();
  flights_.settle(failures_);
  if (command->result().has_error()) failures_.tell(command->result().error());
  return command->result();
}

Result<void> Evaluator::wait(std::span<const expr::Value> values) {
  STOKER_TRY(evaluate(values));
  for (const expr::Value& value : values)
    if (const std::shared_ptr<const Commands> writers = account_of(*value.node())->writers)
      for (const CommandPtr& command : *writers) STOKER_TRY(wait_for(command));
  return {};
}

Result<std::vector<std::byte>> Evaluator::read(const expr::Value& value, std::size_t offset,
                                               std::size_t bytes) {
  STOKER_TRY(wait({&value, 1}));
  if (bytes == 0) return std::vector<std::byte>{};
  // Shared with the command: after a cancellation the device may still write there.
  struct Target {
    explicit Target(std::size_t size) : memory(size) {}
    std::vector<std::byte> memory;
    Promise<void> filled;
  };
  const auto target = std::make_shared<Target>(bytes);
  const Future<void> filled = target->filled.future();
  STOKER_ASSIGN(
      const CommandPtr command,
      device_->read_into(value.buffer(), offset, target->memory, [target](const Error* failure) {
        target->filled.set(failure != nullptr ? Result<void>{*failure} : Result<void>{});
      }));
  command->observe();
  if (!wait_until_ready(*filled.state())) {
    device_->cancel(command, budget_.cancel().cause().value_or(cancelled_error("read")));
    return cancelled();
  }
  if (filled.poll()->has_error()) {
    failures_.tell(filled.poll()->error());
    return filled.poll()->error();
  }
  return std::move(target->memory);
}

Result<void> Evaluator::finish() {
  while (!flights_.empty()) STOKER_TRY(wait_for_oldest());
  if (auto failure = failures_.take_untold()) return *std::move(failure);
  return {};
}

Error Evaluator::cancelled() {
  static_cast<void>(budget_.spend(0));  // takes the cause over
  abandon(budget_.why());
  return budget_.why();
}

void Evaluator::abandon(const Error& why) {
  stop_.cancel(why);
  flights_.cancel(*device_, why);
}

ScriptReport Evaluator::report() const {
  ScriptReport report = report_;
  report.pipelines_compiled = structures_.noted();
  return report;
}

}  // namespace stoker::script
