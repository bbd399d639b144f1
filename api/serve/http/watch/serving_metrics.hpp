// The metrics of servings and their devices, for Prometheus. docs/serving.md lists them.
//
// Pure functions but for reading the devices' statistics; any thread.
#pragma once

#include <span>

#include "stoker/api/serve/http/http_counts.hpp"
#include "stoker/api/serve/http/watch/model_status.hpp"
#include "stoker/runtime/observe/prometheus_writer.hpp"

namespace stoker::serve::http {

void write_serving_metrics(PrometheusWriter& text, std::span<const ModelStatus> models);
void write_device_metrics(PrometheusWriter& text, std::span<const ModelStatus> models);
void write_http_metrics(PrometheusWriter& text, const HttpCounts& counts);
/// The names and units that Triton's metrics have.
void write_triton_metrics(PrometheusWriter& text, std::span<const ModelStatus> models);

}  // namespace stoker::serve::http
