#include "stoker/runtime/base/error.hpp"

#include <array>
#include <new>
#include <utility>

#include "stoker/runtime/base/exit_watch.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker {
namespace {

constexpr std::array code_names = {
    std::string_view{"invalid_argument"},
    std::string_view{"unknown_kernel"},
    std::string_view{"arity_mismatch"},
    std::string_view{"shape_mismatch"},
    std::string_view{"dtype_mismatch"},
    std::string_view{"invalid_parameter"},
    std::string_view{"cycle"},
    std::string_view{"wrong_device"},
    std::string_view{"released"},
    std::string_view{"not_found"},
    std::string_view{"already_exists"},
    std::string_view{"unsupported"},
    std::string_view{"limit_exceeded"},
    std::string_view{"out_of_memory"},
    std::string_view{"overloaded"},
    std::string_view{"cancelled"},
    std::string_view{"deadline_exceeded"},
    std::string_view{"closed"},
    std::string_view{"device_lost"},
    std::string_view{"compile_failed"},
    std::string_view{"script_error"},
    std::string_view{"budget_exceeded"},
    std::string_view{"permission_denied"},
    std::string_view{"io_error"},
    std::string_view{"forked_process"},
    std::string_view{"handler_failed"},
    std::string_view{"internal"},
};
static_assert(code_names.size() == static_cast<std::size_t>(ErrorCode::internal) + 1);

std::string compose(std::string_view op, std::string_view reason, std::span<const Detail> details) {
  std::string text{op};
  text.append(op.empty() ? "" : ": ").append(reason);
  const char* separator = " (";
  for (const Detail& detail : details) {
    text.append(separator).append(detail.key).append("=").append(detail.value);
    separator = ", ";
  }
  if (!details.empty()) text.push_back(')');
  return text;
}

}  // namespace

struct Error::Payload {
  std::string op;
  ErrorCode code = ErrorCode::internal;
  std::string reason;
  std::vector<Detail> details;
  std::string text;
};

namespace {
/// For objects of other files, too, that are made before main().
const Error& spare() {
  static constinit NeverDestroyed<Error> made;
  return made.get([] { return Error{"", ErrorCode::out_of_memory, "host memory exhausted"}; });
}
[[maybe_unused]] const Error& made_in_time = spare();
}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return index < code_names.size() ? code_names[index] : "internal";
}

Error::Error() noexcept = default;

Error::Error(std::string op, ErrorCode code, std::string reason, std::vector<Detail> details) {
  std::string text = compose(op, reason, details);
  payload_ = std::make_shared<const Payload>(
      Payload{std::move(op), code, std::move(reason), std::move(details), std::move(text)});
}

std::string_view Error::op() const noexcept {
  return payload_ ? std::string_view{payload_->op} : std::string_view{};
}

ErrorCode Error::code() const noexcept { return payload_ ? payload_->code : ErrorCode::internal; }

std::string_view Error::reason() const noexcept {
  return payload_ ? std::string_view{payload_->reason} : std::string_view{"unspecified failure"};
}

std::span<const Detail> Error::details() const noexcept {
  return payload_ ? std::span<const Detail>{payload_->details} : std::span<const Detail>{};
}

std::string_view Error::detail(std::string_view key) const noexcept {
  for (const Detail& detail : details())
    if (detail.key == key) return detail.value;
  return {};
}

bool Error::retryable() const noexcept {
  const ErrorCode kind = code();
  return kind == ErrorCode::out_of_memory || kind == ErrorCode::overloaded ||
         kind == ErrorCode::deadline_exceeded || kind == ErrorCode::device_lost;
}

const char* Error::what() const noexcept {
  return payload_ ? payload_->text.c_str() : "unspecified failure";
}

Error Error::with(std::string key, std::string value) const {
  std::vector<Detail> facts{details().begin(), details().end()};
  facts.push_back({std::move(key), std::move(value)});
  return Error{std::string{op()}, code(), std::string{reason()}, std::move(facts)};
}

void throw_exception_from_error(const Error& error, const boost::source_location&) {
  give_exit_time();
  throw error;
}

Error out_of_memory_error() noexcept { return spare(); }

Error error_from_exception(const std::exception& exception, std::string_view op) noexcept {
  return error_or_out_of_memory([&] {
    if (const auto* error = dynamic_cast<const Error*>(&exception)) return *error;
    if (dynamic_cast<const std::bad_alloc*>(&exception))
      return Error{std::string{op}, ErrorCode::out_of_memory, "host memory exhausted"};
    return Error{std::string{op}, ErrorCode::handler_failed, exception.what()};
  });
}

Error error_from_current_exception(std::string_view op) noexcept {
  return error_or_out_of_memory([&] {
    try {
      throw;
    } catch (const std::exception& exception) {
      return error_from_exception(exception, op);
    } catch (...) {
      return Error{std::string{op}, ErrorCode::handler_failed, "an unknown exception was thrown"};
    }
  });
}

}  // namespace stoker
