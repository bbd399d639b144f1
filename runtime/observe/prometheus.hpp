// Metrics as the text that Prometheus scrapes (version 0.0.4).
//
//     response.body() = prometheus_text(system.metrics().snapshot());
//     response.set(content_type, prometheus_content_type);
//
// Each name has one # TYPE line, and a # HELP line if it has a help text. Invalid characters in a name
// become `_`, and a counter's name gets the ending `_total` if it lacks it, so one bad name of a program
// cannot make the whole answer invalid. A histogram always has the same bounds: 0, 1, 3, … 2^40 - 1 in the
// recorded unit, times its scale, and +Inf.
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
