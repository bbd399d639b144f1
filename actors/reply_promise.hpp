// The promise of a call's answer. It may have a time limit, and may be fulfilled by another future.
//
// Threads: a ReplyPromise has one owner at a time; the future may be used from any thread. The
// first answer counts; one after the time limit is dropped. Destroying an unanswered ReplyPromise
// answers `closed`. Lifetime: a promise with a time limit keeps its executor, and so the clock,
// alive until it is answered.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {

namespace detail {
/// The time limit of an answer. It is destroyed on its executor, whose last reference it may hold.
class ReplyLimit : public TimerNode, private Task {
 public:
  ReplyLimit(const ReplyLimit&) = delete;
  ReplyLimit& operator=(const ReplyLimit&) = delete;
  virtual ~ReplyLimit() = default;
  void arm(Clock::time_point until) noexcept { executor_->clock().arm(*this, until); }
  /// Disarms and destroys it.
  struct End {
    void operator()(ReplyLimit* limit) const noexcept;
  };

 protected:
  explicit ReplyLimit(Executor& executor) noexcept : executor_{executor.keep()} {}

 private:
  void run() noexcept override;
  void drop() noexcept override { run(); }
  std::shared_ptr<Executor> executor_;
};

/// Forwards an outcome to an answer. A chain of relays is processed in a loop, not recursively.
class AnswerRelay : public Waiter {
 public:
  AnswerRelay(const AnswerRelay&) = delete;
  AnswerRelay& operator=(const AnswerRelay&) = delete;
  virtual ~AnswerRelay() = default;
  /// Destroys it.
  void wake() noexcept final;

 protected:
  AnswerRelay() noexcept = default;

 private:
  virtual void pass_on() noexcept = 0;
};
}  // namespace detail

template <class R> class ReplyPromise {
 public:
  [[nodiscard]] Future<R> future() const noexcept { return promise_.future(); }
  /// Sets the time limit; `actor` is named in the error.
  void limit(Executor& executor, Clock::time_point until, const std::string& actor) {
    limit_.reset(std::make_unique<Limit>(executor, promise_.future(), actor).release());
    limit_->arm(until);
  }
  bool set(Result<R> result) noexcept {
    const bool first = promise_.valid() && promise_.set(std::move(result));
    limit_.reset();  // behind the answer, which need not wait for that
    return first;
  }
  bool set() requires std::is_void_v<R> { return set(Result<R>{}); }
  /// Answers with the later outcome of `other`.
  void follow(Future<R> other) && {
    if (!other.valid()) {
      set(Error{"call", ErrorCode::internal, "the handler returned an empty future"});
      return;
    }
    auto relay = std::make_unique<Relay>(std::move(*this), other);
    other.on_ready(*relay.release());  // destroys itself when it has been woken
  }

 private:
  class Limit final : public detail::ReplyLimit {
   public:
    Limit(Executor& executor, Future<R> answer, const std::string& actor)
        : ReplyLimit{executor},
          answer_{std::move(answer)},
          late_{"call",
                ErrorCode::deadline_exceeded,
                "the answer did not come in time",
                {{"actor", actor}}} {}
    void expired() noexcept override {
      // A woken waiter may destroy this.
      const auto state = answer_.state();
      state->complete(Result<R>{std::move(late_)});
    }

   private:
    Future<R> answer_;
    Error late_;
  };
  class Relay final : public detail::AnswerRelay {
   public:
    Relay(ReplyPromise answer, Future<R> source)
        : answer_{std::move(answer)}, source_{std::move(source)} {}

   private:
    void pass_on() noexcept override { answer_.set(copy(*source_.poll())); }
    /// The result, or that there was no memory to copy it.
    [[nodiscard]] static Result<R> copy(const Result<R>& result) noexcept {
      try {
        return result;
      } catch (...) {
        return error_from_current_exception("call");
      }
    }
    ReplyPromise answer_;
    Future<R> source_;
  };

  Promise<R> promise_;
  std::unique_ptr<Limit, detail::ReplyLimit::End> limit_;
};

/// A call as a process receives it. Answer it by reply(), now or later; it may be moved to another
/// owner first.
template <class M, class R = void> class Request {
 public:
  using Content = M;
  using Reply = R;
  Request(M content, ReplyPromise<R> answer)
      : content_{std::move(content)}, answer_{std::move(answer)} {}
  [[nodiscard]] const M& operator*() const noexcept { return content_; }
  [[nodiscard]] const M* operator->() const noexcept { return &content_; }
  [[nodiscard]] M& operator*() noexcept { return content_; }
  /// Returns false, and drops the answer, if the call was already answered or has timed out.
  bool reply(Result<R> result) noexcept { return answer_.set(std::move(result)); }
  bool reply() noexcept requires std::is_void_v<R> { return answer_.set(); }
  /// Answers with the later outcome of `other`.
  void reply_with(Future<R> other) { std::move(answer_).follow(std::move(other)); }

 private:
  M content_;
  ReplyPromise<R> answer_;
};

}  // namespace stoker
