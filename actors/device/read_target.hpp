// Holds the elements of a read until its future takes them. Cancelling that future cancels the
// read.
//
// Threads: one starts the read; then bytes() belongs to the command until any thread calls the completion function.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stoker/runtime/futures/future.hpp"

namespace stoker {

/// The outcome of a read.
template <class T> class ReadState final : public FutureState<std::vector<T>> {
 public:
  /// Sets the command that reads. Call before the future is handed out.
  void set_command(boost::intrusive_ptr<FutureCore> command) noexcept {
    command_ = std::move(command);
  }
  void cancel() noexcept override {
    if (command_) command_->cancel();
  }

 private:
  boost::intrusive_ptr<FutureCore> command_;
};

/// Shared by the command that fills it; see DeviceClient::read_into.
template <class T> class ReadTarget {
 public:
  explicit ReadTarget(std::size_t count) : values_(count) {}
  ~ReadTarget() { static_cast<void>(state_->complete(detail::broken_promise("read"))); }
  ReadTarget(const ReadTarget&) = delete;
  ReadTarget& operator=(const ReadTarget&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() noexcept {
    return std::as_writable_bytes(std::span{values_});
  }
  /// The completion function for read_into(); it owns the target.
  [[nodiscard]] static std::function<void(const Error*)> completion(
      std::shared_ptr<ReadTarget> target) {
    return [target = std::move(target)](const Error* failure) {
      if (failure)
        static_cast<void>(target->state_->complete(*failure));
      else
        static_cast<void>(target->state_->complete(std::move(target->values_)));
    };
  }
  /// The future of the elements that `command` reads. Call once.
  [[nodiscard]] Future<std::vector<T>> result_of(boost::intrusive_ptr<FutureCore> command) {
    command->observe();  // the future carries the outcome
    state_->set_command(std::move(command));
    return Future<std::vector<T>>{state_};
  }

 private:
  std::vector<T> values_;
  const boost::intrusive_ptr<ReadState<T>> state_{new ReadState<T>};  // NOLINT: counted
};

}  // namespace stoker
