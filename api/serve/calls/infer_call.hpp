// One inference request of a server, from the message that came to its answer. The form of messages is a parameter:
// bodies of HTTP, messages of gRPC.
//
//     read the message ─▶ Serving::run() ─▶ outputs to the host ─▶ write the answer
//
// Messages of up to `small_message` bytes are read and written on the system's executor, larger ones and those that
// came compressed on its pool for blocking work. The thread that starts the call only posts.
//
// Threads: any may start and cancel. Lifetime: the call keeps itself until it is answered; the system outlives it.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "stoker/api/serve/calls/host_values.hpp"
#include "stoker/api/serve/models/served_models.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"
#include "stoker/api/serve/served_call.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/blocking_pool.hpp"

namespace stoker::serve {

/// Where calls run.
struct CallPlaces {
  std::shared_ptr<Executor> executor;
  BlockingPool* pool = nullptr;
};

/// A request in its form, a value that is used once, one step at a time.
template <class Form>
concept CallForm = requires(Form form, const Form& given, const AnyModel& model,
                            const protocol::InferRequest& request,
                            const protocol::ModelLabel& label, const NamedValues& outputs,
                            const protocol::ClassLabels* labels, const RequestTimes& times,
                            const Error& error) {
  /// What answers the call: a shared pointer.
  typename Form::Answer;
  /// What it takes to read the message, and to write an answer of so many bytes of elements.
  { given.bytes() } -> std::same_as<std::size_t>;
  { given.answer_bytes(std::size_t{}) } -> std::same_as<std::size_t>;
  /// Once; the message may go then. Throws what is wrong with it.
  { form.read(model) } -> std::same_as<protocol::InferRequest>;
  { given.write(request, label, outputs, labels) } -> std::same_as<typename Form::Answer>;
  /// The model has computed its outputs.
  form.ran(times);
  /// What is wrong with the request, why the model has given no outputs, and why there is no answer otherwise.
  { given.refused(error, label.name) } -> std::same_as<typename Form::Answer>;
  { given.without_result(error, label.name) } -> std::same_as<typename Form::Answer>;
  { given.failed(error, label.name) } -> std::same_as<typename Form::Answer>;
  /// Nobody waits for the answer any more. Any thread, during any step.
  { given.cancelled(label.name) } -> std::same_as<typename Form::Answer>;
  /// For when there is no memory for any other.
  { Form::nothing() } -> std::same_as<typename Form::Answer>;
};

template <CallForm Form> class InferCall final : public FutureState<typename Form::Answer> {
 public:
  using Answer = typename Form::Answer;
  static constexpr std::size_t small_message = std::size_t{64} << 10;

  /// Precondition: the version is ready. The future always has an answer, never an error. cancel() on it cancels the
  /// request; the answer then says so.
  [[nodiscard]] static Future<Answer> start(CallPlaces places, const ServedVersion& version,
                                            protocol::ModelLabel label, Form form) {
    const Ptr call{new InferCall{std::move(places), version, std::move(label),  // NOLINT: counted
                                 std::move(form)}};
    try {
      call->go_on(call->form_.bytes(), &InferCall::read);
    } catch (...) {
      call->answer(call->form_.failed(error_from_current_exception("infer"), call->label_.name));
    }
    return Future<Answer>{call};
  }

  void cancel() noexcept override {
    const Ptr self{this};
    boost::intrusive_ptr<FutureCore> work;
    {
      const std::lock_guard lock{mutex_};
      cancelled_ = true;
      work = std::move(work_);
    }
    if (work) work->cancel();
    try {
      answer(form_.cancelled(label_.name));
    } catch (...) {
      answer(nullptr);
    }
  }

 private:
  using Ptr = boost::intrusive_ptr<InferCall>;

  InferCall(CallPlaces places, const ServedVersion& version, protocol::ModelLabel label, Form form)
      : places_{std::move(places)},
        serving_{*version.serving},
        label_{std::move(label)},
        labels_{version.labels},
        asked_{places_.executor->clock().now()},
        form_{std::move(form)},
        use_{version.use} {}

  /// Takes the step where so many bytes may be read or written; later, never within this call.
  void go_on(std::size_t bytes, void (InferCall::*step)()) {
    auto next = [self = Ptr{this}, step] { self->take([&] { (*self.*step)(); }); };
    if (bytes <= small_message) return places_.executor->post(std::move(next));
    static_cast<void>(places_.pool->run(std::move(next)));
  }

  /// Takes the step unless the call was answered; what it throws becomes the answer.
  template <class Step> void take(Step&& step) noexcept {
    if (this->ready()) return;  // it was cancelled
    try {
      try {
        step();
      } catch (...) {
        answer(form_.refused(error_from_current_exception("infer"), label_.name));
      }
    } catch (...) {
      answer(nullptr);
    }
  }

  /// Hands its outcome to `next`. cancel() reaches this work from now on.
  void follow(const Future<NamedValues>& work,
              void (InferCall::*next)(const Result<NamedValues>&)) {
    bool cancelled = false;
    {
      const std::lock_guard lock{mutex_};
      work_ = work.state();
      cancelled = cancelled_;
    }
    if (cancelled) work.cancel();
    // Often so for a model that was computed on this thread. To wake another one would take longer than what follows.
    if (const Result<NamedValues>* const outcome = work.poll()) return (this->*next)(*outcome);
    static_cast<void>(
        work.then(*places_.executor, [self = Ptr{this}, next](const Result<NamedValues>& outcome) {
          self->take([&] { (*self.*next)(outcome); });
        }));
  }

  void read() {
    request_ = form_.read(serving_.model());
    const Future<NamedValues> running =
        serving_.run(request_.inputs, {.deadline = time_left(), .priority = priority()});
    request_.inputs.clear();  // the serving has them
    running_ = running;
    follow(running, &InferCall::computed);
  }

  void computed(const Result<NamedValues>& outputs) {
    const Future<NamedValues> running = std::move(running_);
    if (!outputs) return answer(form_.without_result(outputs.error(), label_.name));
    if (const RequestTimes* const times = times_of(running)) form_.ran(*times);
    follow(on_host(serving_.model().device(), *outputs), &InferCall::copied);
  }

  void copied(const Result<NamedValues>& outputs) {
    if (!outputs) return answer(form_.without_result(outputs.error(), label_.name));
    outputs_ = *outputs;
    std::size_t bytes = 0;
    for (const auto& [name, value] : outputs_)
      if (value.is_tensor())
        bytes += static_cast<std::size_t>(value.shape().elements()) * 4;  // an estimate is enough
    bytes = form_.answer_bytes(bytes);
    if (bytes <= small_message) return write();
    try {
      go_on(bytes, &InferCall::write);
    } catch (const Error&) {  // the pool is full: better late than lost
      write();
    }
  }

  void write() {
    Answer written = form_.write(request_, label_, outputs_, labels_.get());
    outputs_.clear();
    answer(std::move(written));
  }

  void answer(Answer answer) noexcept {
    static constinit NeverDestroyed<Answer> made;
    const Answer& nothing = made.get([] { return Form::nothing(); });
    const Ptr self{this};
    boost::intrusive_ptr<FutureCore> work;  // it holds outputs
    std::shared_ptr<const VersionUse> use;
    {
      const std::lock_guard lock{mutex_};
      work = std::move(work_);
      use = std::move(use_);
    }
    static_cast<void>(this->complete(answer ? std::move(answer) : nothing));
  }

  /// As Triton has it: what names no level means the default one.
  [[nodiscard]] std::size_t priority() const noexcept {
    const std::uint64_t level = request_.priority.value_or(0);
    return level <= serving_.priorities() ? static_cast<std::size_t>(level) : 0;
  }

  [[nodiscard]] std::optional<std::chrono::nanoseconds> time_left() const {
    if (!request_.timeout) return {};
    const auto gone = places_.executor->clock().now() - asked_;
    // The serving refuses nothing: a deadline that has passed is told as such.
    return std::max<std::chrono::nanoseconds>(*request_.timeout - gone,
                                              std::chrono::nanoseconds{1});
  }

  const CallPlaces places_;
  const Serving serving_;
  const protocol::ModelLabel label_;
  const std::shared_ptr<const protocol::ClassLabels> labels_;
  const Clock::time_point asked_;
  // One step at a time.
  Form form_;
  protocol::InferRequest request_;
  Future<NamedValues> running_;
  NamedValues outputs_;

  std::mutex mutex_;  // of what follows
  bool cancelled_ = false;
  boost::intrusive_ptr<FutureCore> work_;
  std::shared_ptr<const VersionUse> use_;  // until it is answered
};

}  // namespace stoker::serve
