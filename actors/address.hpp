// An untyped address of an actor: enough to watch it, to tie oneself to it and to end it. Typed ones
// (ActorRef, actor.hpp) convert to it.
//
// Threads: any; a copy is a share. Holding an address keeps its actor reachable, not alive. An empty
// address is that of nobody, who has ended with `noproc`; what is sent to it is refused.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/actors/actor_cell.hpp"

namespace stoker {

struct StopOptions {
  ExitReason reason = ExitReason::normal();
  /// How long the messages sent before may take; then it is killed. A later stop() with a patience
  /// of its own begins anew.
  std::chrono::nanoseconds patience = std::chrono::nanoseconds::max();
};

/// What `op` says of an empty address.
[[nodiscard]] Error empty_address(std::string_view op);

class ActorAddress {
 public:
  ActorAddress() = default;
  explicit ActorAddress(std::shared_ptr<ActorCell> cell) noexcept : cell_{std::move(cell)} {}

  [[nodiscard]] ActorId id() const noexcept { return cell_ ? cell_->id() : 0; }
  /// What spawn() was told; need not be unique.
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] bool alive() const noexcept { return cell_ && cell_->alive(); }

  /// Sends an exit signal (OTP's exit/2): ends the actor with this reason unless it traps exits.
  /// `normal` is ignored by one that does not trap, unless it sends it to itself; `kill` ends any, with
  /// the reason `killed`. Takes effect after the handler that runs now. The signal comes from the actor
  /// whose handler or process calls this, else from the program (Exit::from is 0).
  void exit(const ExitReason& why) const;
  /// Ends the actor after the messages sent before, whatever it traps. Ready when it has ended; fails
  /// with forked_process in a child of the process the actor was made in.
  Future<ExitReason> stop(const StopOptions& options = {}) const;
  /// Ready when it has ended; at once if it has.
  [[nodiscard]] Future<ExitReason> ended() const;

  [[nodiscard]] const std::shared_ptr<ActorCell>& cell() const noexcept { return cell_; }
  [[nodiscard]] explicit operator bool() const noexcept { return cell_ != nullptr; }
  /// The cell, for `op`, which needs one. Throws invalid_argument for an empty address, forked_process
  /// for one of another process.
  [[nodiscard]] ActorCell& existing(std::string_view op) const;
  friend bool operator==(const ActorAddress&, const ActorAddress&) noexcept = default;

 private:
  std::shared_ptr<ActorCell> cell_;
};

}  // namespace stoker
