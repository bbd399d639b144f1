#include "stoker/api/serve/http/infer_call.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "stoker/api/serve/http/answers.hpp"
#include "stoker/api/serve/http/host_values.hpp"
#include "stoker/api/serve/served_call.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::serve::http {
namespace {

std::size_t bytes_of(const NamedValues& outputs) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : outputs) {
    if (value.is_tensor())
      bytes += static_cast<std::size_t>(value.shape().elements()) * 4;  // an estimate is enough
  }
  return bytes;
}

HttpAnswerPtr with(HttpInference inference, const HttpAnswerPtr& answer) {
  HttpAnswer told = *answer;
  told.inference = std::move(inference);
  return std::make_shared<const HttpAnswer>(std::move(told));
}

}  // namespace

InferCall::InferCall(CallPlaces places, const Serving& serving, protocol::ModelLabel label,
                     const protocol::BodyLimits& limits, std::optional<std::uint64_t> json_bytes,
                     HttpQuestion question)
    : places_{std::move(places)},
      serving_{serving},
      label_{std::move(label)},
      limits_{limits},
      json_bytes_{json_bytes},
      asked_{places_.executor->clock().now()},
      watch_{places_.lanes, label_, question.traceparent},
      body_{std::move(question.body)} {}

Future<HttpAnswerPtr> InferCall::start(CallPlaces places, const Serving& serving,
                                       protocol::ModelLabel label,
                                       const protocol::BodyLimits& limits,
                                       std::optional<std::uint64_t> json_bytes,
                                       HttpQuestion question) {
  const Ptr call{new InferCall{std::move(places), serving, std::move(label), limits, json_bytes,
                               std::move(question)}};  // NOLINT: counted
  try {
    call->go_on(call->body_.size(), &InferCall::read);
  } catch (...) {
    call->answer(failed(error_from_current_exception("infer"), call->label_.name));
  }
  return Future<HttpAnswerPtr>{call};
}

void InferCall::cancel() noexcept {
  const Ptr self{this};
  boost::intrusive_ptr<FutureCore> work;
  {
    const std::lock_guard lock{mutex_};
    cancelled_ = true;
    work = std::move(work_);
  }
  if (work) work->cancel();
  try {
    answer(with(watch_.beginning(), failed(cancelled_error("infer"), label_.name)));
  } catch (...) {
    answer(nullptr);
  }
}

void InferCall::go_on(std::size_t bytes, void (InferCall::*step)()) {
  auto next = [self = Ptr{this}, step] { self->take([&] { (*self.*step)(); }); };
  if (bytes <= small_body) return places_.executor->post(std::move(next));
  static_cast<void>(places_.pool->run(std::move(next)));
}

template <class Step> void InferCall::take(Step&& step) noexcept {
  if (ready()) return;  // it was cancelled
  try {
    try {
      step();
    } catch (...) {
      refuse(refused(error_from_current_exception("infer"), label_.name));
    }
  } catch (...) {
    answer(nullptr);
  }
}

void InferCall::follow(const Future<NamedValues>& work,
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

void InferCall::read() {
  request_ = protocol::read_infer_request(std::as_bytes(std::span{body_}), json_bytes_,
                                          serving_.model(), limits_);
  body_ = {};
  watch_.read(request_.id);
  const Future<NamedValues> running = serving_.run(request_.inputs, {.deadline = time_left()});
  request_.inputs.clear();  // the serving has them
  running_ = running;
  follow(running, &InferCall::computed);
}

void InferCall::computed(const Result<NamedValues>& outputs) {
  const Future<NamedValues> running = std::move(running_);
  if (!outputs) return refuse(failed(outputs.error(), label_.name));
  if (const RequestTimes* const times = times_of(running)) watch_.ran(*times);
  follow(on_host(serving_.model().device(), *outputs), &InferCall::copied);
}

void InferCall::copied(const Result<NamedValues>& outputs) {
  if (!outputs) return refuse(failed(outputs.error(), label_.name));
  outputs_ = *outputs;
  const std::size_t bytes = bytes_of(outputs_);
  if (bytes <= small_body) return write();
  try {
    go_on(bytes, &InferCall::write);
  } catch (const Error&) {  // the pool is full: better late than lost
    write();
  }
}

void InferCall::write() {
  protocol::InferResponse response = protocol::write_infer_response(request_, label_, outputs_);
  HttpAnswer written{.content_type = "application/json", .headers = {}, .body = {}};
  if (response.json_bytes) {
    written.content_type = "application/octet-stream";
    written.headers.emplace_back("Inference-Header-Content-Length",
                                 std::to_string(*response.json_bytes));
  }
  written.body = std::move(response.body);
  written.inference = watch_.noted();
  outputs_.clear();
  answer(std::make_shared<const HttpAnswer>(std::move(written)));
}

void InferCall::refuse(const HttpAnswerPtr& refusal) { answer(with(watch_.noted(), refusal)); }

void InferCall::answer(const HttpAnswerPtr& answer) noexcept {
  static constinit NeverDestroyed<HttpAnswerPtr> made;
  const HttpAnswerPtr& nothing =
      made.get([] { return std::make_shared<const HttpAnswer>(HttpAnswer{.status = 500}); });
  const Ptr self{this};
  boost::intrusive_ptr<FutureCore> work;  // it holds outputs
  {
    const std::lock_guard lock{mutex_};
    work = std::move(work_);
  }
  static_cast<void>(complete(answer ? answer : nothing));
}

std::optional<std::chrono::nanoseconds> InferCall::time_left() const {
  if (!request_.timeout) return {};
  const auto gone = places_.executor->clock().now() - asked_;
  // The serving refuses nothing: a deadline that has passed is told as such.
  return std::max<std::chrono::nanoseconds>(*request_.timeout - gone, std::chrono::nanoseconds{1});
}

}  // namespace stoker::serve::http
