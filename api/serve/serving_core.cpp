#include "stoker/api/serve/serving_core.hpp"

#include <algorithm>
#include <span>

#include "stoker/api/serve/batch_notice.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::serve {
namespace {

/// Admission bounds what comes, so no message is refused.
constexpr std::uint32_t mailbox_capacity = 1U << 30U;

BatchRules rules_of(const ServingOptions& options, const RowLayout& layout) {
  // Without rows, each request is a batch of one.
  BatchRules rules{.batch_size = 1,
                   .timeout = options.batch_timeout,
                   .wait = options.wait,
                   .levels = options.priorities,
                   .keys = options.batch_keys.size()};
  if (!layout.joins()) return rules;
  rules.batch_size = options.batch_size;
  rules.sizes = options.sizes;
  rules.padding = options.padding;
  return rules;
}

std::shared_ptr<const KeyedAdmission> admission_of(const ServingOptions& options) {
  std::vector<std::size_t> levels;
  levels.reserve(options.priorities.size());
  for (const PriorityLevel& level : options.priorities)
    levels.push_back(level.max_requests.value_or(Admission::no_limit));
  std::vector<std::shared_ptr<Admission>> keys;
  keys.reserve(options.batch_keys.size());
  for (std::size_t i = 0; i < options.batch_keys.size(); ++i)
    keys.push_back(std::make_shared<Admission>(options.max_requests, options.max_bytes,
                                               options.batch_timeout, levels));
  return std::make_shared<const KeyedAdmission>(std::move(keys));
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
  require(options.max_request_batches >= 1, "max_request_batches", "at least 1");
  require(!options.deadline || *options.deadline > nanoseconds::zero(), "deadline", "above 0");
  require(options.shutdown >= nanoseconds::zero(), "shutdown", "at least 0");
  for (const std::int64_t size : options.sizes) require(size >= 1, "sizes", "at least 1 each");
  std::ranges::sort(options.sizes);
  for (const PriorityLevel& level : options.priorities) {
    require(!level.max_requests || *level.max_requests >= 1, "priorities", "of at least 1 request");
    require(!level.timeout || *level.timeout > nanoseconds::zero(), "priorities",
            "of a time-out above 0");
  }
  if (options.priorities.empty()) options.priorities.resize(1);
  require(options.default_priority >= 1 && options.default_priority <= options.priorities.size(),
          "default_priority", "from 1 to the number of priorities");
  for (std::size_t i = 0; i < options.batch_keys.size(); ++i) {
    const auto before = std::span{options.batch_keys}.first(i);
    require(!options.batch_keys[i].empty() &&
                std::ranges::find(before, options.batch_keys[i]) == before.end(),
            "batch_keys", "names that differ");
  }
  if (options.batch_keys.empty()) options.batch_keys.resize(1);
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
      admission_{admission_of(options)},
      batcher_{spawn<Batcher>(executor_,
                              {.name = options.name + " batcher", .capacity = mailbox_capacity},
                              BatcherParts{.runner = runner_,
                                           .admission = admission_,
                                           .rules = rules_of(options, layout_),
                                           .retry = options.retry,
                                           .max_request_batches = options.max_request_batches,
                                           .reason = layout_.why_apart(),
                                           .partitions = {model_.device().name()},
                                           .keys = options.batch_keys})} {
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

std::size_t ServingCore::key_of(const ServingRequestOptions& options) const {
  const std::vector<std::string>& keys = options_.batch_keys;
  if (options.key.empty()) return 0;
  const auto found = std::ranges::find(keys, options.key);
  if (found == keys.end()) {
    const std::vector<std::string_view> known{keys.begin(), keys.end()};
    throw Error{"serving",
                ErrorCode::not_found,
                "there is no batch key '" + std::string{options.key} + "'" +
                    did_you_mean(options.key, known),
                {{"key", std::string{options.key}}}};
  }
  return static_cast<std::size_t>(found - keys.begin());
}

std::size_t ServingCore::level_of(const ServingRequestOptions& options) const {
  const std::size_t levels = options_.priorities.size();
  if (options.priority > levels)
    throw Error{"serving",
                ErrorCode::invalid_argument,
                "there is no priority " + std::to_string(options.priority),
                {{"came", std::to_string(options.priority)}, {"lowest", std::to_string(levels)}}};
  return (options.priority == 0 ? options_.default_priority : options.priority) - 1;
}

Future<NamedValues> ServingCore::run(const NamedValues& inputs,
                                     const ServingRequestOptions& options) const {
  CheckedRequest request = layout_.check(model_, inputs);
  request.key = key_of(options);
  request.level = level_of(options);
  auto deadline = Clock::time_point::max();
  if (const auto& limit = options.deadline ? options.deadline : options_.deadline)
    deadline = deadline_after(executor_->clock().now(), *limit);
  const std::shared_ptr<Admission>& admission = admission_->of(request.key);
  Result<Admission::Ticket> ticket = admission->admit(request.bytes, request.level);
  if (!ticket) return make_ready_future<NamedValues>(ticket.error());
  const CallPtr call{new ServedCall{std::move(request), deadline, *std::move(ticket), admission,
                                    batcher_.cell(), &tell_cancelled}};  // NOLINT: counted
  Future<NamedValues> future = call->future();
  std::optional<BatchNotice::Here> here;
  if (submit_ == Run::here) here.emplace(call.get());
  // If it is refused, the call answers itself.
  static_cast<void>(batcher_.cast(SubmitCall{CallHolder{call}}, submit_));
  return future;
}

}  // namespace stoker::serve
