#include "stoker/actors/exit_reason.hpp"

#include <utility>

#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker {

namespace {

using Shared = std::shared_ptr<const Error>;
Shared as_word(std::string why) {
  return std::make_shared<const Error>("shutdown", ErrorCode::closed, std::move(why));
}

// The end of an actor needs no memory.
const Shared& no_memory() {
  static constinit NeverDestroyed<Shared> made;
  return made.get([] { return std::make_shared<const Error>(out_of_memory_error()); });
}
const Shared& no_executor() {
  static constinit NeverDestroyed<Shared> made;
  return made.get([] { return as_word("its executor has gone"); });
}
[[maybe_unused]] const Shared* const made_in_time[]{&no_memory(), &no_executor()};

}  // namespace

ExitReason ExitReason::failure(Error why) noexcept {
  ExitReason reason{Kind::error};
  try {
    reason.error_ = std::make_shared<const Error>(std::move(why));
  } catch (...) {
    reason.error_ = no_memory();
  }
  return reason;
}

ExitReason ExitReason::shutdown(std::string why) {
  ExitReason reason{Kind::shutdown};
  reason.error_ = as_word(std::move(why));
  return reason;
}

ExitReason ExitReason::executor_gone() noexcept {
  ExitReason reason{Kind::shutdown};
  reason.error_ = no_executor();
  return reason;
}

std::string_view ExitReason::word() const noexcept {
  return kind_ == Kind::shutdown && error_ ? error_->reason() : std::string_view{};
}

const Error* ExitReason::error() const noexcept {
  return kind_ == Kind::error ? error_.get() : nullptr;
}

Error ExitReason::as_error(std::string_view op, std::string_view actor) const {
  if (const Error* why = error(); why && why->code() == ErrorCode::device_lost) return *why;
  // Cut, because actors that end because of each other would tell it all again, each time longer.
  constexpr std::size_t most = 500;
  return {std::string{op},
          ErrorCode::closed,
          "the actor has ended",
          {{"actor", std::string{actor}}, {"exit_reason", cut_short(to_string(), most)}}};
}

std::string ExitReason::to_string() const {
  switch (kind_) {
    case Kind::normal: return "normal";
    case Kind::shutdown:
      return error_ ? "{shutdown, " + std::string{error_->reason()} + "}" : "shutdown";
    case Kind::kill: return "kill";
    case Kind::killed: return "killed";
    case Kind::noproc: return "noproc";
    case Kind::error: break;
  }
  return std::string{"error: "} + error_->what();
}

std::string cut_short(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  // Not within a character of several bytes.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  text.resize(most);
  return text + " …";
}

bool operator==(const ExitReason& a, const ExitReason& b) noexcept {
  if (a.kind_ != b.kind_) return false;
  if (!a.error_ || !b.error_) return !a.error_ && !b.error_;
  return std::string_view{a.error_->what()} == b.error_->what();
}

}  // namespace stoker
