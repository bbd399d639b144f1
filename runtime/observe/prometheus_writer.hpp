// Writes the text that Prometheus scrapes, family by family (prometheus.hpp has the rules).
//
//     PrometheusWriter text;
//     text.begin("queue_depth", PrometheusWriter::Kind::gauge, "Requests that wait");
//     text.value({{"model", "faces"}}, 3);
//     send(text.take());
//
// Threads: one at a time. The locale of the program does not matter.
#pragma once

#include <concepts>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/runtime/observe/metrics.hpp"

namespace stoker {

class PrometheusWriter {
 public:
  enum class Kind : std::uint8_t { counter, gauge, histogram };

  /// The values that follow are of this family. If there is one of that name already, they are left out: with two, the
  /// whole answer would be invalid. `help` may be empty.
  void begin(std::string_view name, Kind kind, std::string_view help);
  template <std::integral T> void value(const MetricLabels& labels, T value) {
    if constexpr (std::signed_integral<T>)
      add(labels, static_cast<std::int64_t>(value));
    else
      add(labels, static_cast<std::uint64_t>(value));
  }
  void value(const MetricLabels& labels, double value) { add(labels, value); }
  /// `counts` has how many values lie at or below each of the ascending `bounds` and above the one before, and at its
  /// end how many lie above all.
  void histogram(const MetricLabels& labels, std::span<const double> bounds,
                 std::span<const std::uint64_t> counts, double sum);
  [[nodiscard]] std::string take() noexcept { return std::move(text_); }

 private:
  template <class T> void add(const MetricLabels& labels, T value);
  void line(std::string_view name, std::string_view labels, std::string_view value);

  std::string text_;
  std::set<std::string, std::less<>> names_;
  std::string name_;       ///< of the family
  bool left_out_ = false;  ///< the family is
};

/// Writes all of them, as prometheus_text() does.
void write_metrics(PrometheusWriter& text, const MetricsSnapshot& metrics);

}  // namespace stoker
