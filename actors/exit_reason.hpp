// Why an actor ended, as data: OTP's exit reasons.
//
//     normal           it finished
//     shutdown         its supervisor or owner asked it to end
//     {shutdown, x}    the same, with the cause as a word
//     kill             the signal that cannot be trapped; the victim's own reason becomes
//     killed           killed
//     noproc           the actor that was linked or watched had ended before
//     error            a handler threw, or the actor chose to fail: the Error says why
//
// The rules are OTP's: https://www.erlang.org/doc/system/ref_man_processes.html, "Error Handling".
//
// Threads: a value; copies share immutable data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/runtime/base/error.hpp"

namespace stoker {

class ExitReason {
 public:
  enum class Kind : std::uint8_t { normal, shutdown, kill, killed, noproc, error };

  /// normal.
  ExitReason() noexcept = default;
  [[nodiscard]] static ExitReason normal() noexcept { return {}; }
  [[nodiscard]] static ExitReason shutdown() noexcept { return ExitReason{Kind::shutdown}; }
  /// {shutdown, why}.
  [[nodiscard]] static ExitReason shutdown(std::string why);
  /// {shutdown, its executor has gone}: the actor can never run again.
  [[nodiscard]] static ExitReason executor_gone() noexcept;
  [[nodiscard]] static ExitReason kill() noexcept { return ExitReason{Kind::kill}; }
  [[nodiscard]] static ExitReason killed() noexcept { return ExitReason{Kind::killed}; }
  [[nodiscard]] static ExitReason noproc() noexcept { return ExitReason{Kind::noproc}; }

  /// The reason `error` with this Error; out_of_memory_error() if there is no memory to store it.
  [[nodiscard]] static ExitReason failure(Error why) noexcept;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// Whether the actor ended as planned: normal, shutdown or {shutdown, x}. A transient child that
  /// ends so is not restarted.
  [[nodiscard]] bool planned() const noexcept {
    return kind_ == Kind::normal || kind_ == Kind::shutdown;
  }
  /// x of {shutdown, x}, else empty.
  [[nodiscard]] std::string_view word() const noexcept;
  /// The Error of `error`, else null.
  [[nodiscard]] const Error* error() const noexcept;

  /// The Error for callers of the ended actor called `actor`: `closed`, with the reason as a
  /// detail, cut to 500 bytes; or device_lost if that was the reason, because a retry may then
  /// help.
  [[nodiscard]] Error as_error(std::string_view op, std::string_view actor) const;
  /// "normal", "{shutdown, no work left}", "error: matmul: …".
  [[nodiscard]] std::string to_string() const;
  /// The same kind, and the same word or error text.
  friend bool operator==(const ExitReason& a, const ExitReason& b) noexcept;

 private:
  explicit ExitReason(Kind kind) noexcept : kind_{kind} {}

  Kind kind_ = Kind::normal;
  std::shared_ptr<const Error> error_;  // of an error, or one that carries the word
};

/// At most `most` bytes of the text, and a mark if it was cut.
[[nodiscard]] std::string cut_short(std::string text, std::size_t most);

}  // namespace stoker
