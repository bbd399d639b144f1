#include "stoker/api/serve/serving.hpp"

#include "stoker/api/serve/model_runner.hpp"
#include "stoker/api/serve/row_check.hpp"
#include "stoker/api/serve/serving_core.hpp"

namespace stoker {

const AnyModel& Serving::model() const noexcept { return core_->model(); }

std::size_t Serving::priorities() const noexcept { return core_->options().priorities.size(); }

std::size_t Serving::default_priority() const noexcept { return core_->options().default_priority; }

Future<NamedValues> Serving::run(const NamedValues& inputs,
                                 const ServingRequestOptions& options) const {
  return core_->run(inputs, options);
}

void Serving::with_batch_size(std::int64_t rows) const {
  if (rows < 1)
    throw Error{"serving",
                ErrorCode::invalid_argument,
                "batch_size must be at least 1",
                {{"came", std::to_string(rows)}}};
  if (!core_->layout().joins())
    throw Error{"serving", ErrorCode::unsupported,
                "requests run one at a time: " + core_->layout().why_apart()};
  static_cast<void>(core_->batcher().cast(serve::SetBatchSize{rows}));
}

void Serving::with_timeout(std::chrono::nanoseconds timeout) const {
  if (timeout < std::chrono::nanoseconds::zero())
    throw Error{"serving",
                ErrorCode::invalid_argument,
                "batch_timeout must be at least 0",
                {{"came_ns", std::to_string(timeout.count())}}};
  static_cast<void>(core_->batcher().cast(serve::SetTimeout{timeout}));
}

Future<ServingStatus> Serving::status() const { return core_->batcher().call(serve::AskStatus{}); }

Future<void> Serving::drain() const {
  core_->admission().close(
      Error{"serving", ErrorCode::closed, "the serving accepts no further requests"});
  return core_->batcher().call(serve::AwaitDrained{});
}

Future<ExitReason> Serving::stop() const { return core_->supervisor().stop(); }

Serving start_serving(const Supervisor& supervisor, const AnyModel& model,
                      const ServingOptions& options) {
  const ServingOptions given = serve::checked(options);
  const serve::RowLayout layout = serve::checked_layout(model, given.sample);
  serve::warm_up(model, layout, given);
  const auto core = std::make_shared<serve::ServingCore>(
      supervisor.existing("start_serving").strand()->shared_executor(), model, layout,
      std::make_shared<const serve::ModelRunner>(model, layout), given, Run::here,
      std::make_shared<BlockingPool>(BlockingOptions{.threads = 1, .queue = given.workers}));
  core->set_supervisor(supervisor.start_child(core->child_spec()).get());
  return Serving{core};
}

}  // namespace stoker
