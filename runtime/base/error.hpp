// The one error type of Stoker and the Result<T> that carries it.
//
// Ownership: an Error shares one immutable payload; copies are cheap and never throw.
// Threads:   immutable after construction, so any thread may read any copy.
// Use:       functions that a program calls throw the Error itself, which is a std::exception. try_…
//            functions, and those below the public headers, return Result<T>. docs/errors.md has the rule.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stoker {

/// The kind of a failure. Stable: the names are part of the API and of every JSON output.
enum class ErrorCode : std::uint8_t {
  invalid_argument,   ///< a value that no call of this kind accepts
  unknown_kernel,     ///< no kernel of this name is registered
  arity_mismatch,     ///< too few or too many inputs or outputs
  shape_mismatch,     ///< shapes do not fit each other or the rule of the kernel
  dtype_mismatch,     ///< dtypes do not fit each other or the rule of the kernel
  invalid_parameter,  ///< unknown, missing, of the wrong type or out of range
  cycle,              ///< a graph depends on itself
  wrong_device,       ///< a buffer of another device
  released,           ///< the handle was released by its owner
  not_found,          ///< a name, file or id that does not exist
  already_exists,     ///< a name that is taken
  unsupported,        ///< this device or build cannot do it; `details` names the missing feature
  limit_exceeded,     ///< beyond a fixed limit of the device; `details` names the limit
  out_of_memory,      ///< a budget or heap is full; `details` has requested, limit, in_use
  overloaded,         ///< a bounded queue is full; try again later
  cancelled,          ///< cancel() was called before the result was there
  deadline_exceeded,  ///< the deadline passed before the result was there
  closed,             ///< the actor, system or channel has stopped
  device_lost,        ///< the device stopped answering; its contents are gone
  compile_failed,     ///< GLSL or script text that does not compile
  script_error,       ///< a script raised an error
  budget_exceeded,    ///< a script used up its instructions or memory
  permission_denied,  ///< a script asked for something it was not granted
  io_error,           ///< a file could not be read or written
  forked_process,     ///< a handle of the parent was used after fork()
  handler_failed,     ///< user code (a handler, a C++ kernel) threw
  internal,           ///< a defect of Stoker; please report it
};

/// The code's name as written in the enumeration, for example "shape_mismatch".
[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

/// One named fact about a failure, for example {"lhs", "[3,4]"}.
struct Detail {
  std::string key;
  std::string value;
};

/// A failure: which operation (`op`), which kind (`code`), why (`reason`) and structured facts.
class [[nodiscard]] Error : public std::exception {
 public:
  /// An `internal` error without text; exists so that Error is regular.
  Error() noexcept;
  Error(std::string op, ErrorCode code, std::string reason, std::vector<Detail> details = {});

  [[nodiscard]] std::string_view op() const noexcept;
  [[nodiscard]] ErrorCode code() const noexcept;
  [[nodiscard]] std::string_view reason() const noexcept;
  [[nodiscard]] std::span<const Detail> details() const noexcept;
  /// The value of the detail `key`, or an empty view.
  [[nodiscard]] std::string_view detail(std::string_view key) const noexcept;

  /// Whether the same call may succeed later without a change by the caller
  /// (out_of_memory, overloaded, deadline_exceeded, device_lost).
  [[nodiscard]] bool retryable() const noexcept;

  /// "op: reason (key=value, key=value)".
  [[nodiscard]] const char* what() const noexcept override;

  /// The same failure with one more fact, for example the script line on its way up.
  [[nodiscard]] Error with(std::string key, std::string value) const;

 private:
  struct Payload;
  std::shared_ptr<const Payload> payload_;
};

/// A value or the Error why there is none. `value()` throws the Error.
template <class T = void> using Result = boost::system::result<T, Error>;

/// Found by boost::system::result when value() is called on a failure.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location&);

/// Error{"", out_of_memory, "host memory exhausted"}. It is made when the program starts, so it is
/// available when there is no memory to describe a failure.
[[nodiscard]] Error out_of_memory_error() noexcept;
/// The result of `make`, or out_of_memory_error() if it throws.
template <class Make> [[nodiscard]] Error error_or_out_of_memory(Make&& make) noexcept {
  try {
    return make();
  } catch (...) {
    return out_of_memory_error();
  }
}

/// An exception as an Error: an Error passes unchanged, std::bad_alloc becomes out_of_memory, anything
/// else handler_failed.
[[nodiscard]] Error error_from_exception(const std::exception& exception,
                                         std::string_view op) noexcept;
/// The same for the exception in flight, of whatever type. Call it inside a catch block only.
[[nodiscard]] Error error_from_current_exception(std::string_view op) noexcept;

}  // namespace stoker

/// Returns the error of a Result expression from the enclosing function.
#define STOKER_TRY(expression)                                                \
  do {                                                                        \
    if (auto stoker_try_result = (expression); stoker_try_result.has_error()) \
      return std::move(stoker_try_result).error();                            \
  } while (false)

#define STOKER_CONCAT_(a, b) a##b
#define STOKER_CONCAT(a, b) STOKER_CONCAT_(a, b)
/// `STOKER_ASSIGN(auto x, f());` binds the value of a Result or returns its error.
#define STOKER_ASSIGN(declaration, expression) \
  STOKER_ASSIGN_(declaration, expression, STOKER_CONCAT(stoker_result_, __LINE__))
#define STOKER_ASSIGN_(declaration, expression, name)   \
  auto name = (expression);                             \
  if (name.has_error()) return std::move(name).error(); \
  declaration = std::move(*name)
