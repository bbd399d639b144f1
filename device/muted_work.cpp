#include "stoker/device/muted_work.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stoker {

void MutedWork::add(QueueKind queue, const Flight& flight, std::shared_ptr<const void> owner) {
  Muted muted{{queue, flight.value}, flight.commands, {}, {}};
  muted.memory.assign(flight.scratch.begin(), flight.scratch.end());
  const auto keep = [&](const CommandStep& step) {
    for (const Operand& operand : step.inputs) muted.memory.push_back(operand.owner());
    for (const auto* operands : {&step.outputs, &step.scratch})
      for (const Operand& operand : *operands) muted.memory.push_back(operand.owner());
    muted.memory.push_back(step.executable);
  };
  for (const CommandPtr& command : flight.commands) {
    const CommandWork& work = command->work;
    if (work.replay) {
      for (const auto& buffer : *work.replay->bound) muted.memory.push_back(buffer->memory);
      if (work.replay->arena) muted.memory.push_back(work.replay->arena->memory);
      muted.memory.push_back(std::shared_ptr<Recording>{std::move(work.replay->recording)});
      muted.memory.push_back(work.replay);
    } else {
      keep(work.step);
    }
    if (work.on_result) muted.results.push_back(work.on_result);
  }
  const std::scoped_lock lock{mutex_};
  muted_.push_back(std::move(muted));
  count_.store(muted_.size(), std::memory_order_seq_cst);
  owner_ = std::move(owner);
}

void MutedWork::reclaim(const Flights& flights, bool all) noexcept {
  // The owner's last share, which owns this, and the memory go outside the lock.
  std::shared_ptr<const void> owner;
  std::vector<Muted> done;
  const std::scoped_lock lock{mutex_};
  const auto rest = std::partition(muted_.begin(), muted_.end(), [&](const Muted& muted) {
    return !all && !flights.reached(muted.point);
  });
  if (rest == muted_.end()) return;
  try {
    done.assign(std::move_iterator{rest}, std::move_iterator{muted_.end()});
  } catch (const std::bad_alloc&) {
    return;  // it is kept
  }
  muted_.erase(rest, muted_.end());
  count_.store(muted_.size(), std::memory_order_seq_cst);
  if (muted_.empty()) owner = std::move(owner_);
}

}  // namespace stoker
