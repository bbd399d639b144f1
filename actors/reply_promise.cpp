#include "stoker/actors/reply_promise.hpp"

#include "stoker/runtime/base/thread_local.hpp"

namespace stoker::detail {
namespace {

/// What this thread passes on.
struct Passing {
  AnswerRelay* first = nullptr;
  AnswerRelay* last = nullptr;
};
thread_local Passing this_thread_passing;

}  // namespace

STOKER_THREAD_LOCAL_ACCESS static Passing& passing() noexcept { return this_thread_passing; }

void ReplyLimit::End::operator()(ReplyLimit* limit) const noexcept {
  limit->executor_->clock().disarm(*limit);
  // The last share of an executor goes on one of its threads: this one may be its clock's.
  const bool shared = limit->executor_.use_count() != 0;
  if (shared && !limit->executor_->in_executor())
    limit->executor_->post(static_cast<Task&>(*limit));
  else
    limit->run();
}

void ReplyLimit::run() noexcept { const std::unique_ptr<ReplyLimit> self{this}; }

void AnswerRelay::wake() noexcept {
  Passing& here = passing();
  next = nullptr;
  if (here.first) {
    here.last->next = this;
    here.last = this;
    return;
  }
  here.first = here.last = this;
  while (const std::unique_ptr<AnswerRelay> one{here.first}) {
    one->pass_on();
    here.first = static_cast<AnswerRelay*>(one->next);
  }
}

}  // namespace stoker::detail
