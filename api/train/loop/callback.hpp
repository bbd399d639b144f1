// What is called after each epoch, and what it remembers from one to the next.
//
// A function is a callback. One that remembers something, as early stopping does its best loss, has a
// memory beside it, so that a training that goes on from a file goes on as if it had never ended:
//
//     std::string text = seen_by(callbacks);     // one line of JSON
//     recall(same_callbacks_made_anew, text);
//
// Copies of a callback share its memory. Threads: one at a time, as the training that calls it.
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
  /// What the callback is: only memories of one kind are exchanged.
  [[nodiscard]] virtual std::string_view kind() const noexcept = 0;
  /// As JSON.
  [[nodiscard]] virtual std::string seen() const = 0;
  /// Throws invalid_argument for what seen() does not write, and changes nothing then.
  virtual void recall(std::string_view json) = 0;
};

class Callback {
 public:
  using Function = std::function<void(const EpochMetrics& metrics, Training& training)>;

  /// None: may only be asked whether it is one.
  Callback() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Callback> && std::constructible_from<Function, F>)
      Callback(F&& function)  // NOLINT(google-explicit-constructor): a function is a callback
      : function_{std::forward<F>(function)} {}
  Callback(Function function, std::shared_ptr<CallbackMemory> memory)
      : function_{std::move(function)}, memory_{std::move(memory)} {}

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(function_); }
  void operator()(const EpochMetrics& metrics, Training& training) const {
    function_(metrics, training);
  }
  /// Null if it remembers nothing.
  [[nodiscard]] const std::shared_ptr<CallbackMemory>& memory() const noexcept { return memory_; }

 private:
  Function function_;
  std::shared_ptr<CallbackMemory> memory_;
};

/// What they remember, as JSON on one line.
[[nodiscard]] std::string seen_by(std::span<const Callback> callbacks);
/// Gives each callback what the one of its kind remembered: the first of a kind to the first, and so on.
/// Callbacks that the text does not mention start fresh. Throws invalid_argument for other text; then
/// callbacks before the one that it is about may have been changed.
void recall(std::span<const Callback> callbacks, std::string_view text);

}  // namespace stoker::nn
