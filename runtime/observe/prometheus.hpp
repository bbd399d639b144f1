// Metrics as the text that Prometheus scrapes (version 0.0.4).
//
//     response.body() = prometheus_text(system.metrics().snapshot());
//     response.set(content_type, prometheus_content_type);
//
// Each name has one # TYPE line, and a # HELP line if somebody said what it is. What is not allowed in a
// name becomes `_`, and a counter whose name does not end in `_total` gets that, so that one metric of a
// program's cannot spoil the whole answer. A histogram shows the same bounds each time: 0, 1, 3, … 2^40 - 1
// in the unit that is recorded, times its scale, and +Inf.
//
// Pure functions; any thread. The locale of the program does not matter.
#pragma once

#include <string>
#include <string_view>

#include "stoker/runtime/observe/metrics.hpp"

namespace stoker {

inline constexpr std::string_view prometheus_content_type =
    "text/plain; version=0.0.4; charset=utf-8";

[[nodiscard]] std::string prometheus_text(const MetricsSnapshot& metrics);

}  // namespace stoker
