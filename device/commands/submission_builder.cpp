#include "stoker/device/commands/submission_builder.hpp"

#include <utility>

namespace stoker {

void SubmissionBuilder::begin() {
  ++batch_;
  steps_.clear();
}

void SubmissionBuilder::add(CommandState& command, QueueKind queue,
                            std::vector<std::shared_ptr<MemoryLease>>& scratch, Flight& flight) {
  const CommandWork& work = command.work;
  resolve(work.step, steps_.emplace_back(), scratch, flight);
  if (command.has_limits()) steps_.back().stop = &command;
  for_each_use(work, [&](BufferState& buffer, bool writes, bool) {
    note_use(buffer, writes, queue, flight);
    buffer.memory->hazards().order(batch_, steps_, writes);
  });
}

Result<void> SubmissionBuilder::add(Replay& replay, Backend& backend, QueueKind queue,
                                    Flight& flight) {
  if (!replay.recording || replay.moved) STOKER_TRY(record(replay, backend));
  for (const ReplayPlan::Use& use : replay.plan->uses)
    note_use(*replay.buffer(use.buffer), use.writes, queue, flight);
  return {};
}

Submission SubmissionBuilder::made(QueueKind queue, const Flight& flight, Replay* replay) const {
  Submission submission;
  submission.queue = queue;
  submission.value = flight.value;
  if (replay) {
    submission.recording = replay->recording.get();
    submission.recording_moves = replay->passing && replay->recording_stays();
    submission.progress = flight.commands[0]->progress();
    submission.stop = flight.commands[0].get();
  } else {
    submission.steps = steps_;
  }
  return submission;
}

void SubmissionBuilder::note_use(const BufferState& buffer, bool writes, QueueKind queue,
                                 Flight& flight) const {
  buffer.memory->hazards().use(queue, flight.value, writes, flights_.settled(), flight.waits);
}

void SubmissionBuilder::resolve(const CommandStep& from, Step& step,
                                std::vector<std::shared_ptr<MemoryLease>>& scratch,
                                Flight& flight) {
  step.kind = from.kind;
  step.executable = from.executable;
  step.pattern = from.pattern;
  step.pattern_bytes = from.pattern_bytes;
  for (const Operand& operand : from.inputs) step.inputs.push_back(operand.view());
  for (const Operand& operand : from.outputs) step.outputs.push_back(operand.view());
  for (const Operand& operand : from.scratch) step.scratch.push_back(operand.view());
  for (auto& lease : scratch) {
    step.scratch.push_back(lease->view());
    flight.scratch.push_back(std::move(lease));
  }
  scratch.clear();
}

Result<void> SubmissionBuilder::record(Replay& replay, Backend& backend) {
  const auto& plan = replay.plan->steps;
  if (replay.steps.empty()) {
    replay.steps.resize(plan.size());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      replay.steps[i].executable = plan[i].executable;
      replay.steps[i].after.assign(plan[i].after.begin(), plan[i].after.end());
      replay.steps[i].inputs.resize(plan[i].inputs.size());
      replay.steps[i].outputs.resize(plan[i].outputs.size());
      replay.steps[i].scratch.resize(plan[i].scratch.size());
    }
  }
  const auto view_all = [&](const auto& operands, auto& views) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const MemoryView& whole = replay.buffer(operands[i].buffer)->memory->view();
      views[i] = {whole.block, whole.offset + operands[i].offset, operands[i].bytes};
    }
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    view_all(plan[i].inputs, replay.steps[i].inputs);
    view_all(plan[i].outputs, replay.steps[i].outputs);
    view_all(plan[i].scratch, replay.steps[i].scratch);
  }
  replay.moved = false;
  if (replay.recording && backend.rebind(*replay.recording, replay.steps)) return {};
  replay.recording.reset();
  replay.moved = true;
  STOKER_ASSIGN(replay.recording, backend.record(replay.steps));
  replay.moved = false;
  // What cannot be put on other memory is not kept for that.
  if (!backend.rebind(*replay.recording, replay.steps)) replay.steps.clear();
  return {};
}

}  // namespace stoker
