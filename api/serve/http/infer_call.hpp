// One inference request of an HTTP service, from its body to the body of its answer.
//
//     read the body ─▶ Serving::run() ─▶ outputs to the host ─▶ write the answer
//
// Bodies of up to `small_body` bytes are read and written on the system's executor, larger ones on its pool for
// blocking work. The thread that starts the call only posts.
//
// Threads: any may start and cancel. Lifetime: the call keeps itself until it is answered; the system outlives it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/models/served_models.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/blocking_pool.hpp"

namespace stoker::serve::http {

/// Where calls run.
struct CallPlaces {
  std::shared_ptr<Executor> executor;
  BlockingPool* pool = nullptr;
};

class InferCall final : public FutureState<HttpAnswerPtr> {
 public:
  static constexpr std::size_t small_body = std::size_t{64} << 10;

  /// Precondition: the version is ready. The future always has an answer, never an error. cancel() on it cancels the
  /// request; the answer then says so.
  [[nodiscard]] static Future<HttpAnswerPtr> start(CallPlaces places, const ServedVersion& version,
                                                   protocol::ModelLabel label,
                                                   const protocol::BodyLimits& limits,
                                                   std::optional<std::uint64_t> json_bytes,
                                                   std::string body);

  void cancel() noexcept override;

 private:
  using Ptr = boost::intrusive_ptr<InferCall>;

  InferCall(CallPlaces places, const ServedVersion& version, protocol::ModelLabel label,
            const protocol::BodyLimits& limits, std::optional<std::uint64_t> json_bytes,
            std::string body);

  /// Takes the step where so many bytes may be read or written; later, never within this call.
  void go_on(std::size_t bytes, void (InferCall::*step)());
  /// Takes the step unless the call was answered; what it throws becomes the answer.
  template <class Step> void take(Step&& step) noexcept;
  void read();
  void computed(const Result<NamedValues>& outputs);
  void copied(const Result<NamedValues>& outputs);
  void write();
  void answer(const HttpAnswerPtr& answer) noexcept;
  /// Hands its outcome to `next`. cancel() reaches this work from now on.
  void follow(const Future<NamedValues>& work, void (InferCall::*next)(const Result<NamedValues>&));
  [[nodiscard]] std::optional<std::chrono::nanoseconds> time_left() const;

  const CallPlaces places_;
  const Serving serving_;
  const protocol::ModelLabel label_;
  const std::shared_ptr<const OutputLabels> labels_;
  const protocol::BodyLimits limits_;
  const std::optional<std::uint64_t> json_bytes_;
  const Clock::time_point asked_;
  // One step at a time.
  std::string body_;
  protocol::InferRequest request_;
  NamedValues outputs_;

  std::mutex mutex_;  // of what follows
  bool cancelled_ = false;
  boost::intrusive_ptr<FutureCore> work_;
  std::shared_ptr<const VersionUse> use_;  // until it is answered
};

}  // namespace stoker::serve::http
