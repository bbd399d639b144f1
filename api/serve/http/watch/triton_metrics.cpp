// Metrics under Triton's names, for dashboards that exist.
#include <chrono>

#include "stoker/api/serve/http/watch/serving_metrics.hpp"

namespace stoker::serve::http {
namespace {

using Kind = PrometheusWriter::Kind;

template <class Value>
void write(PrometheusWriter& text, std::span<const ModelStatus> models, Kind kind, const char* name,
           const char* help, Value&& value) {
  text.begin(name, kind, help);
  for (const ModelStatus& model : models)
    text.value({{"model", model.name}, {"version", model.version}}, value(model.status));
}

std::uint64_t microseconds(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

void write_triton_metrics(PrometheusWriter& text, std::span<const ModelStatus> models) {
  write(text, models, Kind::counter, "nv_inference_request_success",
        "Number of successful inference requests, all batch sizes",
        [](const ServingStatus& status) { return status.totals.answered; });
  text.begin("nv_inference_request_failure", Kind::counter,
             "Number of failed inference requests, all batch sizes");
  for (const ModelStatus& model : models) {
    const ServingTotals& totals = model.status.totals;
    const auto failed = [&](const char* reason, std::uint64_t count) {
      text.value({{"model", model.name}, {"version", model.version}, {"reason", reason}}, count);
    };
    failed("REJECTED", totals.refused + totals.late);
    failed("CANCELED", totals.cancelled);
    failed("BACKEND", totals.failed);
    failed("OTHER", totals.expired - totals.late);
  }
  write(text, models, Kind::counter, "nv_inference_count",
        "Number of inferences performed, rows of batches count each",
        [](const ServingStatus& status) { return status.totals.answered_rows; });
  write(text, models, Kind::counter, "nv_inference_exec_count",
        "Number of model executions performed", [](const ServingStatus& status) {
          std::uint64_t count = 0;
          for (const auto& [size, one] : status.batch_times) count += one.count;
          return count;
        });
  write(text, models, Kind::gauge, "nv_inference_pending_request_count",
        "Instantaneous number of pending requests awaiting execution",
        [](const ServingStatus& status) { return status.queued; });
  const auto duration = [&](const char* name, const char* help,
                            TimeHistogram ServingTimes::*which) {
    write(text, models, Kind::counter, name, help, [which](const ServingStatus& status) {
      return microseconds((status.times.*which).total());
    });
  };
  duration("nv_inference_request_duration_us",
           "Cumulative inference request duration in microseconds", &ServingTimes::request);
  duration("nv_inference_queue_duration_us",
           "Cumulative inference queuing duration in microseconds", &ServingTimes::queue);
  duration("nv_inference_compute_input_duration_us",
           "Cumulative compute input duration in microseconds", &ServingTimes::compute_input);
  duration("nv_inference_compute_infer_duration_us",
           "Cumulative compute inference duration in microseconds", &ServingTimes::compute_infer);
  duration("nv_inference_compute_output_duration_us",
           "Cumulative compute output duration in microseconds", &ServingTimes::compute_output);
}

}  // namespace stoker::serve::http
