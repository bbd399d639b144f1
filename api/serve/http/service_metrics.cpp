#include "stoker/api/serve/http/service_metrics.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/runtime/futures/when.hpp"
#include "stoker/runtime/observe/metrics.hpp"
#include "stoker/runtime/observe/prometheus.hpp"

namespace stoker::serve::http {
namespace {

using Status = std::optional<ServingStatus>;

class Metrics {
 public:
  Metrics(MetricsSnapshot& all, std::string model)
      : all_{&all}, labels_{{"model", std::move(model)}} {}

  void gauge(const char* name, const char* help, std::uint64_t value) {
    all_->gauges.push_back({{name, help, labels_}, static_cast<std::int64_t>(value)});
  }
  void counter(const char* name, const char* help, std::uint64_t value) {
    all_->counters.push_back({{name, help, labels_}, value});
  }
  void histogram(const char* name, const char* help,
                 const std::map<std::int64_t, std::uint64_t>& counts) {
    HistogramSnapshot value;
    for (const auto& [size, count] : counts) {
      const auto rows = static_cast<std::uint64_t>(size);
      value.count += count;
      value.sum += rows * count;
      value.buckets[static_cast<std::size_t>(std::bit_width(rows))] += count;
    }
    all_->histograms.push_back({{name, help, labels_}, value, 1});
  }

 private:
  MetricsSnapshot* all_;
  const MetricLabels labels_;
};

void add(MetricsSnapshot& all, const std::string& model, const ServingStatus& status) {
  Metrics add{all, model};
  add.gauge("stoker_queue_depth", "Requests that wait for a batch", status.queued);
  add.gauge("stoker_queue_bytes", "Bytes of the requests that wait", status.queued_bytes);
  add.gauge("stoker_batches_in_flight", "Batches that run", status.running);
  add.gauge("stoker_serving_workers", "Workers that are there", status.workers);
  const ServingTotals& totals = status.totals;
  add.counter("stoker_requests_accepted_total", "Requests that were accepted", totals.accepted);
  add.counter("stoker_requests_answered_total", "Requests that got a result", totals.answered);
  add.counter("stoker_requests_failed_total", "Requests whose batch failed", totals.failed);
  add.counter("stoker_requests_refused_total", "Requests that found the queue full",
              totals.refused);
  add.counter("stoker_requests_expired_total", "Requests whose deadline passed", totals.expired);
  add.counter("stoker_requests_cancelled_total",
              "Requests that were cancelled, such as by a client that went away", totals.cancelled);
  add.counter("stoker_batch_padding_rows_total", "Rows that were added to fill batches",
              totals.padding);
  add.counter("stoker_batch_retries_total", "Batches that were run again", totals.retries);
  add.counter("stoker_worker_crashes_total", "Crashes of workers", totals.crashes);
  add.histogram("stoker_batch_rows", "Rows of a batch, with padding", status.batches);
}

/// As prometheus_text() has them.
void sort_by_name(MetricsSnapshot& all) {
  std::ranges::stable_sort(all.counters, {}, &MetricInfo::name);
  std::ranges::stable_sort(all.gauges, {}, &MetricInfo::name);
  std::ranges::stable_sort(all.histograms, {}, &MetricInfo::name);
}

}  // namespace

Future<HttpAnswerPtr> metrics_answer(Executor& executor, const MetricRegistry& metrics,
                                     const ServedModels::Map& models) {
  std::vector<std::string> names;
  std::vector<Future<Status>> each;
  names.reserve(models.size());
  each.reserve(models.size());
  for (const auto& [name, model] : models) {
    const ServedVersion* const version = model.answering();
    if (version == nullptr) continue;
    names.push_back(name);
    each.push_back(version->serving->status().then(
        executor, [](const Result<ServingStatus>& status) -> Result<Status> {
          return status ? Status{*status} : Status{};
        }));
  }
  return when_all(std::move(each))
      .then(executor,
            [names = std::move(names),
             &metrics](const Result<std::vector<Status>>& statuses) -> Result<HttpAnswerPtr> {
              MetricsSnapshot all = metrics.snapshot();
              if (statuses)
                for (std::size_t i = 0; i < names.size(); ++i)
                  if (const Status& status = (*statuses)[i]) add(all, names[i], *status);
              sort_by_name(all);
              return std::make_shared<const HttpAnswer>(
                  HttpAnswer{.content_type = std::string{prometheus_content_type},
                             .headers = {},
                             .body = prometheus_text(all)});
            });
}

}  // namespace stoker::serve::http
