#include "stoker/runtime/observe/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker {

HistogramSnapshot Histogram::snapshot() const noexcept {
  HistogramSnapshot result;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    result.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
    result.count += result.buckets[i];
  }
  result.sum = sum_.load(std::memory_order_relaxed);
  return result;
}

double HistogramSnapshot::quantile(double q) const noexcept {
  if (count == 0) return 0;
  const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(count);
  double below = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto here = static_cast<double>(buckets[i]);
    if (here == 0 || below + here < rank) {
      below += here;
      continue;
    }
    if (i == 0) return 0;
    const double low = std::ldexp(1.0, static_cast<int>(i) - 1);
    return low + low * (rank - below) / here;  // a bucket is as wide as its lower bound
  }
  return std::ldexp(1.0, static_cast<int>(buckets.size()) - 1);
}

double HistogramSnapshot::mean() const noexcept {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

namespace {

template <class Metric> struct Entry {
  std::string help;
  double scale = 1;
  Metric metric;
};
template <class Metric>
using Family = std::map<std::pair<std::string, MetricLabels>, Entry<Metric>, std::less<>>;

template <class Metric>
Metric& find_or_make(Family<Metric>& family, std::string_view name, std::string_view help,
                     MetricLabels labels, double scale = 1) {
  std::string text{help};
  auto [at, made] = family.try_emplace({std::string{name}, std::move(labels)});
  if (made) {
    at->second.help = std::move(text);
    at->second.scale = scale;
  }
  return at->second.metric;
}

nlohmann::json describe(const MetricInfo& info) {
  nlohmann::json labels = nlohmann::json::object();
  for (const auto& [key, value] : info.labels) labels[key] = value;
  return {{"name", info.name}, {"help", info.help}, {"labels", std::move(labels)}};
}

}  // namespace

struct MetricRegistry::Impl {
  /// Throws forked_process: in a child a thread of the parent may hold the lock.
  [[nodiscard]] std::unique_lock<std::mutex> lock() const {
    fork.check("metrics").value();
    return std::unique_lock{mutex};
  }

  const ForkGuard fork;
  mutable std::mutex mutex;
  Family<Counter> counters;  // nodes of a map never move, so references stay good
  Family<std::function<std::uint64_t()>> counters_from;
  Family<Gauge> gauges;
  Family<Histogram> histograms;
};

MetricRegistry::MetricRegistry() : impl_(std::make_unique<Impl>()) {}
MetricRegistry::~MetricRegistry() = default;

Counter& MetricRegistry::counter(std::string_view name, std::string_view help,
                                 MetricLabels labels) {
  const auto lock = impl_->lock();
  return find_or_make(impl_->counters, name, help, std::move(labels));
}

void MetricRegistry::counter_from(std::string_view name, std::string_view help, MetricLabels labels,
                                  std::function<std::uint64_t()> read) {
  const auto lock = impl_->lock();
  find_or_make(impl_->counters_from, name, help, std::move(labels)) = std::move(read);
}

Gauge& MetricRegistry::gauge(std::string_view name, std::string_view help, MetricLabels labels) {
  const auto lock = impl_->lock();
  return find_or_make(impl_->gauges, name, help, std::move(labels));
}

Histogram& MetricRegistry::histogram(std::string_view name, std::string_view help,
                                     MetricLabels labels, double scale) {
  const auto lock = impl_->lock();
  return find_or_make(impl_->histograms, name, help, std::move(labels), scale);
}

MetricsSnapshot MetricRegistry::snapshot() const {
  auto lock = impl_->lock();
  const auto read_elsewhere = impl_->counters_from;
  MetricsSnapshot result;
  for (const auto& [key, entry] : impl_->counters)
    result.counters.push_back({{key.first, entry.help, key.second}, entry.metric.value()});
  for (const auto& [key, entry] : impl_->gauges)
    result.gauges.push_back({{key.first, entry.help, key.second}, entry.metric.value()});
  for (const auto& [key, entry] : impl_->histograms)
    result.histograms.push_back(
        {{key.first, entry.help, key.second}, entry.metric.snapshot(), entry.scale});
  lock.unlock();
  for (const auto& [key, entry] : read_elsewhere)
    result.counters.push_back({{key.first, entry.help, key.second}, entry.metric()});
  std::ranges::sort(result.counters, {}, [](const MetricsSnapshot::CounterValue& one) {
    return std::tie(one.name, one.labels);
  });
  return result;
}

std::string MetricsSnapshot::to_json() const {
  nlohmann::json json = {{"counters", nlohmann::json::array()},
                         {"gauges", nlohmann::json::array()},
                         {"histograms", nlohmann::json::array()}};
  for (const CounterValue& counter : counters) {
    nlohmann::json& entry = json["counters"].emplace_back(describe(counter));
    entry["value"] = counter.value;
  }
  for (const GaugeValue& gauge : gauges) {
    nlohmann::json& entry = json["gauges"].emplace_back(describe(gauge));
    entry["value"] = gauge.value;
  }
  for (const HistogramValue& histogram : histograms) {
    nlohmann::json& entry = json["histograms"].emplace_back(describe(histogram));
    const HistogramSnapshot& value = histogram.value;
    entry["count"] = value.count;
    entry["sum"] = static_cast<double>(value.sum) * histogram.scale;
    entry["mean"] = value.mean() * histogram.scale;
    entry["p50"] = value.quantile(0.5) * histogram.scale;
    entry["p90"] = value.quantile(0.9) * histogram.scale;
    entry["p99"] = value.quantile(0.99) * histogram.scale;
  }
  return write_json(json, BadUtf8::replace, 2);
}

}  // namespace stoker
