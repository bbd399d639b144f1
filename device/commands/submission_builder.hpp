// Puts commands into submissions: looks up their memory, orders their steps by hazards, and notes what the
// submission has to wait for.
//
// Threads: the device's strand alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/device/commands/flights.hpp"

namespace stoker {

class SubmissionBuilder {
 public:
  /// `flights` outlives this.
  explicit SubmissionBuilder(const Flights& flights) : flights_{flights} {}

  /// The next submission begins, without steps.
  void begin();
  [[nodiscard]] std::size_t size() const noexcept { return steps_.size(); }

  /// The command's step comes next, with `scratch` as its kernel's memory, which `flight` keeps.
  void add(CommandState& command, QueueKind queue,
           std::vector<std::shared_ptr<MemoryLease>>& scratch, Flight& flight);
  /// All steps of a plan, which fill a submission. Records them anew if their memory has moved; the errors of
  /// Backend::record(), and then the next run records them.
  [[nodiscard]] Result<void> add(Replay& replay, Backend& backend, QueueKind queue, Flight& flight);

  /// What was added. Valid until begin(), and as long as `flight` and `replay`, null for single steps, live.
  [[nodiscard]] Submission made(QueueKind queue, const Flight& flight, Replay* replay) const;

 private:
  void resolve(const CommandStep& from, Step& step,
               std::vector<std::shared_ptr<MemoryLease>>& scratch, Flight& flight);
  static Result<void> record(Replay& replay, Backend& backend);
  void note_use(const BufferState& buffer, bool writes, QueueKind queue, Flight& flight) const;

  const Flights& flights_;
  std::uint64_t batch_ = 0;  // counts submissions
  std::vector<Step> steps_;
};

}  // namespace stoker
