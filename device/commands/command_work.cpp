#include "stoker/device/commands/command_work.hpp"

#include <thread>

#include "stoker/device/commands/held_commands.hpp"

namespace stoker {

MemoryView Operand::view() const noexcept {
  if (const auto* block = std::get_if<std::shared_ptr<MemoryBlock>>(&memory))
    return {block->get(), offset, bytes};
  const BufferState* state = buffer();
  const MemoryLease& lease =
      state ? *state->memory : **std::get_if<std::shared_ptr<MemoryLease>>(&memory);
  return {lease.view().block, lease.view().offset + offset, bytes};
}

std::shared_ptr<const void> Operand::owner() const noexcept {
  if (const auto* block = std::get_if<std::shared_ptr<MemoryBlock>>(&memory)) return *block;
  if (const auto* lease = std::get_if<std::shared_ptr<MemoryLease>>(&memory)) return *lease;
  return buffer()->memory;
}

HostWait::~HostWait() {
  if (!inbox_ || point_.timeline->remove(*this)) return;
  // It was told, or is being told this moment by another thread.
  while (!done()) std::this_thread::yield();
}

void HostWait::arm(std::shared_ptr<ReachedPoints> inbox, std::shared_ptr<HeldCommand> command) {
  inbox_ = std::move(inbox);
  command_ = std::move(command);
  value = point_.value;
  point_.timeline->add(*this);
}

void HostWait::reached(const Error* failure) noexcept {
  if (failure) failure_ = *failure;
  // Once done, the strand may destroy this object at any moment.
  const std::shared_ptr<ReachedPoints> inbox = inbox_;
  std::shared_ptr<HeldCommand> command = command_;
  const bool failed = failure != nullptr;
  done_.store(true, std::memory_order_release);
  inbox->add(std::move(command), failed);
}

void ExpectedWrites::add(BufferState& buffer) {
  buffers_.push_back(&buffer);
  buffer.unsettled.fetch_add(1, std::memory_order_seq_cst);
}

void ExpectedWrites::clear() noexcept {
  for (BufferState* const buffer : buffers_)
    buffer->unsettled.fetch_sub(1, std::memory_order_seq_cst);
  buffers_.clear();
}

void CommandWork::clear() noexcept {
  writes.clear();
  step.inputs.clear();
  step.outputs.clear();
  step.scratch.clear();
  step.executable.reset();
  if (replay && replay->passing) {
    replay->bound.reset();
    replay->arena.reset();
    if (!replay->recording_stays()) replay->recording.reset();
  }
  replay.reset();
  waits.clear();
  on_result = nullptr;
}

}  // namespace stoker
