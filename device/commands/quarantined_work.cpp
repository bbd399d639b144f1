#include "stoker/device/commands/quarantined_work.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stoker {

void QuarantinedWork::add(QueueKind queue, const Flight& flight,
                          std::shared_ptr<const void> owner) {
  Quarantined quarantined{{queue, flight.value}, flight.commands, {}, {}};
  quarantined.memory.assign(flight.scratch.begin(), flight.scratch.end());
  const auto keep = [&](const CommandStep& step) {
    for (const Operand& operand : step.inputs) quarantined.memory.push_back(operand.owner());
    for (const auto* operands : {&step.outputs, &step.scratch})
      for (const Operand& operand : *operands) quarantined.memory.push_back(operand.owner());
    quarantined.memory.push_back(step.executable);
  };
  for (const CommandPtr& command : flight.commands) {
    const CommandWork& work = command->work;
    if (work.replay) {
      for (const auto& buffer : *work.replay->bound) quarantined.memory.push_back(buffer->memory);
      if (work.replay->arena) quarantined.memory.push_back(work.replay->arena->memory);
      quarantined.memory.push_back(std::shared_ptr<Recording>{std::move(work.replay->recording)});
      quarantined.memory.push_back(work.replay);
    } else {
      keep(work.step);
    }
    if (work.on_result) quarantined.results.push_back(work.on_result);
  }
  const std::scoped_lock lock{mutex_};
  quarantined_.push_back(std::move(quarantined));
  count_.store(quarantined_.size(), std::memory_order_seq_cst);
  owner_ = std::move(owner);
}

void QuarantinedWork::reclaim(const Flights& flights, bool all) noexcept {
  // The owner's last share, which owns this, and the memory go outside the lock.
  std::shared_ptr<const void> owner;
  std::vector<Quarantined> done;
  const std::scoped_lock lock{mutex_};
  const auto rest = std::partition(
      quarantined_.begin(), quarantined_.end(),
      [&](const Quarantined& quarantined) { return !all && !flights.reached(quarantined.point); });
  if (rest == quarantined_.end()) return;
  try {
    done.assign(std::move_iterator{rest}, std::move_iterator{quarantined_.end()});
  } catch (const std::bad_alloc&) {
    return;  // it is kept
  }
  quarantined_.erase(rest, quarantined_.end());
  count_.store(quarantined_.size(), std::memory_order_seq_cst);
  if (quarantined_.empty()) owner = std::move(owner_);
}

}  // namespace stoker
