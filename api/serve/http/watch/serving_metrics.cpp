#include "stoker/api/serve/http/watch/serving_metrics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace stoker::serve::http {
namespace {

using Kind = PrometheusWriter::Kind;
using Models = std::span<const ModelStatus>;

MetricLabels labels_of(const ModelStatus& model) {
  return {{"model", model.name}, {"version", model.version}};
}
MetricLabels labels_of(const ModelStatus& model, const char* key, std::string value) {
  MetricLabels labels = labels_of(model);
  labels.emplace_back(key, std::move(value));
  return labels;
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>{time}.count();
}

/// A value of each model.
template <class Value>
void write(PrometheusWriter& text, Models models, Kind kind, const char* name, const char* help,
           Value&& value) {
  text.begin(name, kind, help);
  for (const ModelStatus& model : models) text.value(labels_of(model), value(model.status));
}

void write_times(PrometheusWriter& text, Models models, const char* name, const char* help,
                 TimeHistogram ServingTimes::*which) {
  static const std::array bounds = [] {
    std::array<double, TimeHistogram::bounds> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = seconds(TimeHistogram::bound(i));
    return all;
  }();
  text.begin(name, Kind::histogram, help);
  for (const ModelStatus& model : models) {
    const TimeHistogram& times = model.status.times.*which;
    text.histogram(labels_of(model), bounds, times.counts(), seconds(times.total()));
  }
}

void write_batch_rows(PrometheusWriter& text, Models models) {
  constexpr std::array bounds{1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0};
  text.begin("stoker_batch_rows", Kind::histogram, "Rows of the batches that ran, with padding");
  for (const ModelStatus& model : models) {
    std::array<std::uint64_t, bounds.size() + 1> counts{};
    double sum = 0;
    for (const auto& [size, count] : model.status.batches) {
      const auto rows = static_cast<double>(size);
      sum += rows * static_cast<double>(count);
      const auto* const bound = std::ranges::lower_bound(bounds, rows);
      counts.at(static_cast<std::size_t>(bound - bounds.begin())) += count;
    }
    text.histogram(labels_of(model), bounds, counts, sum);
  }
}

void write_queues(PrometheusWriter& text, Models models) {
  text.begin("stoker_queue_depth", Kind::gauge, "Requests that wait for a batch");
  for (const ModelStatus& model : models)
    for (std::size_t level = 0; level < model.status.levels.size(); ++level)
      text.value(labels_of(model, "level", std::to_string(level + 1)),
                 model.status.levels[level].queued);
  write(text, models, Kind::gauge, "stoker_queue_bytes", "Bytes of the requests that wait",
        [](const ServingStatus& status) { return status.queued_bytes; });
  write(text, models, Kind::gauge, "stoker_batches_in_flight", "Batches that run",
        [](const ServingStatus& status) { return status.running; });
  write(text, models, Kind::gauge, "stoker_serving_workers", "Workers that are there",
        [](const ServingStatus& status) { return status.workers; });
}

void write_answers(PrometheusWriter& text, Models models) {
  const auto count = [&](const char* name, const char* help, std::uint64_t ServingTotals::*which) {
    write(text, models, Kind::counter, name, help,
          [which](const ServingStatus& status) { return status.totals.*which; });
  };
  count("stoker_requests_accepted_total", "Requests that were accepted", &ServingTotals::accepted);
  count("stoker_requests_answered_total", "Requests that got a result", &ServingTotals::answered);
  text.begin("stoker_requests_failed_total", Kind::counter,
             "Requests whose batch failed, by the code of the error");
  for (const ModelStatus& model : models)
    for (const auto& [code, failures] : model.status.failures)
      text.value(labels_of(model, "reason", std::string{to_string(code)}), failures);
  text.begin("stoker_requests_rejected_total", Kind::counter,
             "Requests that found the queue full: that of all, or that of their priority level");
  for (const ModelStatus& model : models) {
    std::uint64_t of_level = 0;
    for (const ServingLevelStatus& level : model.status.levels) of_level += level.refused;
    text.value(labels_of(model, "reason", "queue"), model.status.totals.refused - of_level);
    text.value(labels_of(model, "reason", "level"), of_level);
  }
  text.begin("stoker_requests_expired_total", Kind::counter,
             "Requests whose deadline passed, or that waited for longer than their level allows");
  for (const ModelStatus& model : models) {
    const ServingTotals& totals = model.status.totals;
    text.value(labels_of(model, "reason", "deadline"), totals.expired - totals.late);
    text.value(labels_of(model, "reason", "level"), totals.late);
  }
  text.begin("stoker_requests_cancelled_total", Kind::counter,
             "Requests that their caller cancelled, such as by closing its connection");
  for (const ModelStatus& model : models)
    text.value(labels_of(model, "reason", "caller"), model.status.totals.cancelled);
  count("stoker_rows_answered_total", "Rows of requests that got a result",
        &ServingTotals::answered_rows);
  count("stoker_batches_total", "Batches that were started", &ServingTotals::batches);
  count("stoker_batch_padding_rows_total", "Rows that were added to fill batches",
        &ServingTotals::padding);
  count("stoker_batch_retries_total", "Batches that were run again", &ServingTotals::retries);
  count("stoker_worker_restarts_total", "Workers that crashed and were started again",
        &ServingTotals::crashes);
}

void write_plans(PrometheusWriter& text, Models models) {
  text.begin("stoker_plans_made_total", Kind::counter,
             "Plans that were made for new shapes of inputs");
  for (const ModelStatus& model : models) text.value(labels_of(model), model.model.plans_made());
  text.begin("stoker_plan_cuts_total", Kind::counter,
             "How often runs waited for elements that decide about shapes");
  for (const ModelStatus& model : models) text.value(labels_of(model), model.model.cuts());
}

}  // namespace

void write_serving_metrics(PrometheusWriter& text, Models models) {
  write_queues(text, models);
  write_times(text, models, "stoker_request_seconds",
              "Time from a request's arrival in the queue to its result", &ServingTimes::request);
  write_times(text, models, "stoker_queue_seconds", "Time until a request's first row ran",
              &ServingTimes::queue);
  write_times(text, models, "stoker_compute_input_seconds",
              "Time to join a request's rows with those of others", &ServingTimes::compute_input);
  write_times(text, models, "stoker_compute_infer_seconds",
              "Time that the model took for a request's batches", &ServingTimes::compute_infer);
  write_times(text, models, "stoker_compute_output_seconds",
              "Time to cut a request's rows out of the results", &ServingTimes::compute_output);
  write_batch_rows(text, models);
  write_answers(text, models);
  write_plans(text, models);
}

void write_device_metrics(PrometheusWriter& text, Models models) {
  struct Seen {
    bool ready = false;
    DeviceStats stats = {};
  };
  std::map<std::string, Seen> devices;
  for (const ModelStatus& model : models) {
    const Device& device = model.model.device();
    if (devices.contains(device.name())) continue;
    devices.emplace(device.name(), Seen{device.ready(), device.stats()});
  }
  const auto gauge = [&](const char* name, const char* help, auto&& value) {
    text.begin(name, Kind::gauge, help);
    for (const auto& [device, seen] : devices) text.value({{"device", device}}, value(seen));
  };
  gauge("stoker_device_ready", "Whether the device is there: 0 while it is lost",
        [](const Seen& seen) { return seen.ready ? 1 : 0; });
  gauge("stoker_device_memory_in_use_bytes", "Memory that buffers and work have",
        [](const Seen& seen) { return seen.stats.memory.in_use; });
  gauge("stoker_device_memory_cached_bytes", "Memory that is held for reuse",
        [](const Seen& seen) { return seen.stats.memory.cached; });
  gauge("stoker_device_memory_budget_bytes", "Memory that may be taken from the device",
        [](const Seen& seen) { return seen.stats.memory.budget; });
  gauge("stoker_device_commands_waiting", "Commands that are not with the driver yet",
        [](const Seen& seen) { return seen.stats.commands.queued; });
}

void write_http_metrics(PrometheusWriter& text, const HttpCounts& counts) {
  text.begin("stoker_http_connections", Kind::gauge, "Connections that are open");
  text.value({}, counts.connections.load(std::memory_order_relaxed));
  text.begin("stoker_http_connections_total", Kind::counter, "Connections that were opened");
  text.value({}, counts.connected.load(std::memory_order_relaxed));
}

}  // namespace stoker::serve::http
