// Counters, gauges and histograms. A registry is an object that the system owns; there is no
// global one.
//
// Threads:   updates are lock-free and may come from any thread; finding a metric takes a lock, so
//            keep the reference. References live as long as the registry. In a child of fork() all
//            functions of a registry of the parent throw `forked_process`.
// Names:     as Prometheus asks: [a-zA-Z_:][a-zA-Z0-9_:]*, counters end in _total, units last
//            (_seconds, _bytes).
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

/// A counter; it only rises.
class Counter {
 public:
  void add(std::uint64_t amount = 1) noexcept {
    value_.fetch_add(amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// A gauge; it rises and falls.
class Gauge {
 public:
  void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t amount) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> value_{0};
};

struct HistogramSnapshot {
  static constexpr std::size_t bucket_count = 65;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  /// buckets[0] counts zeros, buckets[k] values in [2^(k-1), 2^k).
  std::array<std::uint64_t, bucket_count> buckets{};
  /// The quantile `q` (0 to 1), interpolated within its bucket: off by less than a factor of two. 0
  /// without values.
  [[nodiscard]] double quantile(double q) const noexcept;
  [[nodiscard]] double mean() const noexcept;
};

/// A histogram of integers (nanoseconds, bytes) in power-of-two buckets.
class Histogram {
 public:
  void record(std::uint64_t value) noexcept {
    buckets_[static_cast<std::size_t>(std::bit_width(value))].fetch_add(1,
                                                                        std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  [[nodiscard]] HistogramSnapshot snapshot() const noexcept;

 private:
  std::array<std::atomic<std::uint64_t>, HistogramSnapshot::bucket_count> buckets_{};
  std::atomic<std::uint64_t> sum_{0};
};

/// Labels that distinguish metrics of one name, for example {{"device", "cpu"}}.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

struct MetricInfo {
  std::string name;
  std::string help;
  MetricLabels labels;
};
struct MetricsSnapshot {
  struct CounterValue : MetricInfo {
    std::uint64_t value = 0;
  };
  struct GaugeValue : MetricInfo {
    std::int64_t value = 0;
  };
  struct HistogramValue : MetricInfo {
    HistogramSnapshot value;
    double scale = 1;
  };
  std::vector<CounterValue> counters;  ///< each sorted by name, then labels
  std::vector<GaugeValue> gauges;
  std::vector<HistogramValue> histograms;

  /// One JSON object with all counters, gauges and histograms. For Prometheus see prometheus.hpp.
  [[nodiscard]] std::string to_json() const;
};

class MetricRegistry {
 public:
  MetricRegistry();
  ~MetricRegistry();

  /// The metric with this name and these labels; created if needed.
  [[nodiscard]] Counter& counter(std::string_view name, std::string_view help = {},
                                 MetricLabels labels = {});
  /// A counter whose value is kept elsewhere: snapshot() calls `read` for it, on the calling thread
  /// and without a lock. It replaces an earlier one with the same name and labels.
  void counter_from(std::string_view name, std::string_view help, MetricLabels labels,
                    std::function<std::uint64_t()> read);
  [[nodiscard]] Gauge& gauge(std::string_view name, std::string_view help = {},
                             MetricLabels labels = {});
  /// `scale` turns recorded values into the unit of the name when shown: 1e-9 for a metric in
  /// _seconds that records nanoseconds.
  [[nodiscard]] Histogram& histogram(std::string_view name, std::string_view help = {},
                                     MetricLabels labels = {}, double scale = 1);
  [[nodiscard]] MetricsSnapshot snapshot() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoker
