#include "stoker/api/serve/http/watch/statistics_document.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "stoker/runtime/base/json_text.hpp"

namespace stoker::serve::http {
namespace {

using nlohmann::json;

json duration(std::uint64_t count, std::chrono::nanoseconds total) {
  return {{"count", count}, {"ns", total.count()}};
}

json duration(const TimeHistogram& times) { return duration(times.count(), times.total()); }

json statistics_of(const ModelStatus& model) {
  const ServingStatus& status = model.status;
  const ServingTimes& times = status.times;
  const ServingTotals& totals = status.totals;
  json batches = json::array();
  std::uint64_t executions = 0;
  for (const auto& [size, one] : status.batch_times) {
    executions += one.count;
    batches.push_back({{"batch_size", size},
                       {"compute_input", duration(one.count, one.compute_input)},
                       {"compute_infer", duration(one.count, one.compute_infer)},
                       {"compute_output", duration(one.count, one.compute_output)}});
  }
  const auto last =
      std::chrono::duration_cast<std::chrono::milliseconds>(status.last_batch.time_since_epoch());
  return {{"name", model.name},
          {"version", model.version},
          {"last_inference", last.count()},
          {"inference_count", totals.answered_rows},
          {"execution_count", executions},
          {"inference_stats",
           {{"success", duration(times.request)},
            {"fail", duration(totals.failed + totals.cancelled + totals.expired + totals.refused,
                              totals.unanswered_time)},
            {"queue", duration(times.queue)},
            {"compute_input", duration(times.compute_input)},
            {"compute_infer", duration(times.compute_infer)},
            {"compute_output", duration(times.compute_output)},
            {"cache_hit", duration(0, {})},
            {"cache_miss", duration(0, {})}}},
          {"batch_stats", std::move(batches)}};
}

}  // namespace

std::string statistics_document(std::span<const ModelStatus> models) {
  json all = json::array();
  for (const ModelStatus& model : models) all.push_back(statistics_of(model));
  return write_json({{"model_stats", std::move(all)}}, BadUtf8::replace);
}

}  // namespace stoker::serve::http
