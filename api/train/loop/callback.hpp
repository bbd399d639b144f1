// Callbacks, which are called after each epoch, and the state that they keep between epochs.
//
// Any function can be a callback. A callback with state, such as the best loss of early stopping,
// has a CallbackMemory, so that a training resumed from a file continues as if it had never
// stopped:
//
//     std::string text = seen_by(callbacks);     // one line of JSON
//     recall(same_callbacks_made_anew, text);
//
// Copies of a callback share its memory. Threads: one at a time; the training calls it on its own
// thread.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace stoker::nn {

struct EpochMetrics;
class Training;

class CallbackMemory {
 public:
  CallbackMemory() = default;
  CallbackMemory(const CallbackMemory&) = delete;
  CallbackMemory& operator=(const CallbackMemory&) = delete;
  virtual ~CallbackMemory() = default;
  /// The kind of callback: only memories of the same kind are exchanged.
  [[nodiscard]] virtual std::string_view kind() const noexcept = 0;
  /// The state as JSON.
  [[nodiscard]] virtual std::string seen() const = 0;
  /// Restores the state. Throws invalid_argument, and changes nothing, for text that seen() does
  /// not write.
  virtual void recall(std::string_view json) = 0;
};

class Callback {
 public:
  using Function = std::function<void(const EpochMetrics& metrics, Training& training)>;

  /// An empty callback: only operator bool is allowed.
  Callback() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Callback> && std::constructible_from<Function, F>)
      // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload): a function is a callback
      Callback(F&& function)
      : function_{std::forward<F>(function)} {}
  Callback(Function function, std::shared_ptr<CallbackMemory> memory)
      : function_{std::move(function)}, memory_{std::move(memory)} {}

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(function_); }
  void operator()(const EpochMetrics& metrics, Training& training) const {
    function_(metrics, training);
  }
  /// Null if the callback has no state.
  [[nodiscard]] const std::shared_ptr<CallbackMemory>& memory() const noexcept { return memory_; }

 private:
  Function function_;
  std::shared_ptr<CallbackMemory> memory_;
};

/// The callbacks' states, as JSON on one line.
[[nodiscard]] std::string seen_by(std::span<const Callback> callbacks);
/// Restores each callback's state from the text: the first of a kind gets the first state of that
/// kind, and so on. Callbacks that the text does not mention start fresh. Throws invalid_argument
/// for malformed text; callbacks before the one with the error may then have been changed.
void recall(std::span<const Callback> callbacks, std::string_view text);

}  // namespace stoker::nn
