#include "stoker/api/serve/serving_core.hpp"

#include <algorithm>

#include "stoker/api/serve/batch_notice.hpp"

namespace stoker::serve {
namespace {

/// Admission bounds what comes, so no message is refused.
constexpr std::uint32_t mailbox_capacity = 1U << 30U;

BatchRules rules_of(const ServingOptions& options, const RowLayout& layout) {
  // Without rows, each request is a batch of one.
  if (!layout.joins())
    return {.batch_size = 1, .timeout = options.batch_timeout, .wait = options.wait};
  return {.batch_size = options.batch_size,
          .timeout = options.batch_timeout,
          .wait = options.wait,
          .sizes = options.sizes,
          .padding = options.padding};
}

void tell_cancelled(const std::shared_ptr<ActorCell>& batcher, const CallPtr& call) {
  static_cast<void>(ActorRef<Batcher>{batcher}.cast(CallCancelled{call}));
}

void require(bool holds, const char* option, const std::string& expected) {
  if (!holds)
    throw Error{"start_serving",
                ErrorCode::invalid_argument,
                std::string{option} + " must be " + expected,
                {{"option", option}}};
}

}  // namespace

ServingOptions checked(ServingOptions options) {
  using std::chrono::nanoseconds;
  require(options.batch_size >= 1, "batch_size", "at least 1");
  require(options.batch_timeout >= nanoseconds::zero(), "batch_timeout", "at least 0");
  require(options.workers >= 1, "workers", "at least 1");
  require(options.max_requests >= 1, "max_requests", "at least 1");
  require(options.max_bytes >= 1, "max_bytes", "at least 1");
  require(!options.deadline || *options.deadline > nanoseconds::zero(), "deadline", "above 0");
  require(options.shutdown >= nanoseconds::zero(), "shutdown", "at least 0");
  for (const std::int64_t size : options.sizes) require(size >= 1, "sizes", "at least 1 each");
  std::ranges::sort(options.sizes);
  return options;
}

ServingCore::ServingCore(std::shared_ptr<Executor> executor, AnyModel model, RowLayout layout,
                         std::shared_ptr<const BatchRunner> runner, const ServingOptions& options,
                         Run submit, std::shared_ptr<BlockingPool> starter)
    : executor_{std::move(executor)},
      model_{std::move(model)},
      layout_{std::move(layout)},
      runner_{std::move(runner)},
      options_{options},
      submit_{submit},
      starter_{std::move(starter)},
      admission_{std::make_shared<Admission>(options.max_requests, options.max_bytes,
                                             options.batch_timeout)},
      batcher_{spawn<Batcher>(executor_,
                              {.name = options.name + " batcher", .capacity = mailbox_capacity},
                              BatcherParts{.runner = runner_,
                                           .admission = admission_,
                                           .rules = rules_of(options, layout_),
                                           .retry = options.retry,
                                           .reason = layout_.why_apart(),
                                           .partitions = {model_.device().name()}})} {
  batcher_.cell()->trap_exit(true);  // nobody can send to it yet
}

ChildSpec ServingCore::child_spec() const {
  std::vector<ChildSpec> children;
  for (std::size_t i = 1; i <= options_.workers; ++i) {
    ChildSpec& worker = children.emplace_back();
    worker.id = "worker " + std::to_string(i);
    worker.start = [name = options_.name + " " + worker.id, runner = runner_, batcher = batcher_,
                    starter = starter_](const ChildStart& start) -> Result<ActorAddress> {
      const auto actor = start.spawn<BatchWorker>({.name = name}, runner, batcher, starter);
      STOKER_TRY(batcher.cast(WorkerStarted{actor}));
      return ActorAddress{actor};
    };
  }
  ChildSpec& batcher = children.emplace_back();
  batcher.id = "batcher";
  batcher.start = [actor = batcher_](const ChildStart&) -> Result<ActorAddress> { return actor; };
  batcher.restart = Restart::temporary;
  batcher.shutdown = Shutdown{options_.shutdown};
  batcher.significant = true;
  ChildSpec serving = supervisor_child({.name = options_.name,
                                        .intensity = options_.intensity,
                                        .period = options_.period,
                                        .auto_shutdown = AutoShutdown::any_significant},
                                       std::move(children));
  serving.restart = Restart::temporary;
  return serving;
}

Future<NamedValues> ServingCore::run(const NamedValues& inputs,
                                     const ServingRequestOptions& options) const {
  CheckedRequest request = layout_.check(model_, inputs);
  auto deadline = Clock::time_point::max();
  if (const auto& limit = options.deadline ? options.deadline : options_.deadline)
    deadline = deadline_after(executor_->clock().now(), *limit);
  Result<Admission::Ticket> ticket = admission_->admit(request.bytes);
  if (!ticket) return make_ready_future<NamedValues>(ticket.error());
  const CallPtr call{new ServedCall{std::move(request), deadline, *std::move(ticket), admission_,
                                    batcher_.cell(), &tell_cancelled}};  // NOLINT: counted
  Future<NamedValues> future = call->future();
  std::optional<BatchNotice::Here> here;
  if (submit_ == Run::here) here.emplace(true);
  // If it is refused, the call answers itself.
  static_cast<void>(batcher_.cast(SubmitCall{CallHolder{call}}, submit_));
  return future;
}

}  // namespace stoker::serve
