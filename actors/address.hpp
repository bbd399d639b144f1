// An untyped address of an actor: enough to monitor it, link to it and end it. Typed addresses
// (ActorRef, actor.hpp) convert to it.
//
// Threads: any; copies share. Holding an address keeps its actor reachable, but does not prevent
// its end. An empty address acts like an actor that has ended with `noproc`; messages to it are
// refused.
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
  /// How long earlier messages may take before the actor is killed. A later stop() with its own
  /// patience restarts the time.
  std::chrono::nanoseconds patience = std::chrono::nanoseconds::max();
};

/// The Error of `op` for an empty address.
[[nodiscard]] Error empty_address(std::string_view op);

class ActorAddress {
 public:
  ActorAddress() = default;
  explicit ActorAddress(std::shared_ptr<ActorCell> cell) noexcept : cell_{std::move(cell)} {}

  [[nodiscard]] ActorId id() const noexcept { return cell_ ? cell_->id() : 0; }
  /// The name given to spawn(); need not be unique.
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] bool alive() const noexcept { return cell_ && cell_->alive(); }

  /// Sends an exit signal (OTP's exit/2): ends the actor with this reason unless it traps exits.
  /// `normal` is ignored by an actor that does not trap exits, unless it is the sender; `kill` ends
  /// any actor, with the reason `killed`. Takes effect after the current handler. The sender is the
  /// actor whose handler or process calls this, else the program (Exit::from is 0).
  void exit(const ExitReason& why) const;
  /// Ends the actor after all earlier messages, even if it traps exits. Ready when it has ended;
  /// fails with forked_process in a child of fork().
  Future<ExitReason> stop(const StopOptions& options = {}) const;
  /// Ready when it has ended; at once if it has.
  [[nodiscard]] Future<ExitReason> ended() const;

  [[nodiscard]] const std::shared_ptr<ActorCell>& cell() const noexcept { return cell_; }
  [[nodiscard]] explicit operator bool() const noexcept { return cell_ != nullptr; }
  /// The cell, for operation `op`. Throws invalid_argument for an empty address, forked_process for
  /// one of another process.
  [[nodiscard]] ActorCell& existing(std::string_view op) const;
  friend bool operator==(const ActorAddress&, const ActorAddress&) noexcept = default;

 private:
  std::shared_ptr<ActorCell> cell_;
};

}  // namespace stoker
