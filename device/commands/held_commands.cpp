#include "stoker/device/commands/held_commands.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stoker {

void HeldUses::add_reader(const std::shared_ptr<HeldCommand>& reader) {
  // Before it grows it forgets those that were released, so that it holds few more than there are.
  if (readers.size() == readers.capacity()) {
    std::erase_if(readers, [](const auto& one) { return one->released; });
    readers.reserve(std::max<std::size_t>(8, 2 * readers.size()));
  }
  readers.push_back(reader);
}

ReachedPoints::~ReachedPoints() {
  // A long row of them would else end in one deep call.
  while (last_) last_ = std::exchange(last_->next, nullptr);
}

void ReachedPoints::add(std::shared_ptr<HeldCommand> command, bool failed) noexcept {
  bool first = false;
  {
    const std::scoped_lock lock{mutex_};
    first = !last_;
    command->failed = command->failed || failed;
    if (command->told++ == 0) {
      command->next = std::move(last_);
      last_ = std::move(command);
    }
  }
  if (first) notify_();
}

void ReachedPoints::take(std::vector<std::shared_ptr<HeldCommand>>& to) {
  const std::scoped_lock lock{mutex_};
  const auto begin = static_cast<std::ptrdiff_t>(to.size());
  while (last_) {
    HeldCommand& one = *last_;
    const std::uint32_t told = std::exchange(one.told, 0);
    one.points = one.failed ? 0 : one.points - std::min(one.points, told);
    auto before = std::exchange(one.next, nullptr);
    to.push_back(std::exchange(last_, std::move(before)));
  }
  std::reverse(to.begin() + begin, to.end());
}

void HeldCommands::set_notify(std::function<void()> notify) {
  reached_ = std::make_shared<ReachedPoints>(std::move(notify));
}

bool HeldCommands::hold(const CommandPtr& command) {
  CommandWork& work = command->work;
  const bool waits =
      std::ranges::any_of(work.waits, [](const auto& wait) { return !wait->is_reached(); });
  // While nobody is held, nobody can be overtaken.
  if (!waits && all_.empty()) return false;
  std::shared_ptr<HeldCommand> own;
  if (waits) own = std::make_shared<HeldCommand>();
  const auto stay_behind = [&](const std::shared_ptr<HeldCommand>& earlier) {
    if (!earlier || earlier->released) return;
    if (!own) own = std::make_shared<HeldCommand>();
    earlier->behind.push_back(own);
    ++own->before;
  };
  try {
    for_each_use(work, [&](BufferState& buffer, bool writes, bool) {
      if (!buffer.held) return;
      stay_behind(buffer.held->writer);
      if (writes) std::ranges::for_each(buffer.held->readers, stay_behind);
    });
    if (!own) return false;
    for_each_use(work, [&](BufferState& buffer, bool writes, bool) {
      if (!buffer.held) buffer.held = std::make_shared<HeldUses>();
      if (!writes) buffer.held->add_reader(own);
    });
    own->place = all_.insert(all_.end(), own);
  } catch (...) {
    if (own) own->released = true;  // nobody waits for it, though some may have been told to
    throw;
  }
  for_each_use(work, [&](BufferState& buffer, bool writes, bool) {
    if (!writes) return;
    buffer.held->writer = own;
    buffer.held->readers.clear();
  });
  own->command = command;
  ++commands_;
  work.held = own;
  for (const auto& wait : work.waits) {
    if (wait->is_reached()) continue;
    ++own->points;
    wait->arm(reached_, own);
  }
  if (own->points == 0 && own->before == 0) reached_->add(own, false);  // reached just now
  return true;
}

void HeldCommands::release_reached(Ring<CommandPtr>& ready) {
  reached_->take(told_);
  for (std::shared_ptr<HeldCommand>& one : told_)
    if (!one->released && one->points == 0 && one->before == 0) release(std::move(one), ready);
  told_.clear();
}

void HeldCommands::remove(CommandState& command, Ring<CommandPtr>& ready) {
  const std::shared_ptr<HeldCommand> own = std::move(command.work.held);
  command.work.waits.clear();
  own->command.reset();
  --commands_;
  own->points = 0;
  if (own->before == 0) release(own, ready);
}

void HeldCommands::release(std::shared_ptr<HeldCommand> first, Ring<CommandPtr>& ready) {
  std::vector<std::shared_ptr<HeldCommand>> free{std::move(first)};
  for (std::size_t i = 0; i < free.size(); ++i) {
    HeldCommand& one = *free[i];
    one.released = true;
    all_.erase(one.place);
    if (one.command) {
      --commands_;
      one.command->work.held.reset();
      one.command->work.queued = true;
      ready.push_back(std::move(one.command));
    }
    const auto behind = std::exchange(one.behind, {});
    for (const auto& next : behind)
      if (--next->before == 0 && next->points == 0 && !next->released) free.push_back(next);
  }
}

std::vector<CommandPtr> HeldCommands::take_all() {
  std::vector<CommandPtr> commands;
  commands.reserve(commands_);
  for (const std::shared_ptr<HeldCommand>& one : all_) {
    one->released = true;
    one->behind.clear();  // else a long row of them would end in one deep call
    if (!one->command) continue;
    one->command->work.held.reset();
    commands.push_back(std::move(one->command));
  }
  all_.clear();
  commands_ = 0;
  return commands;
}

}  // namespace stoker
