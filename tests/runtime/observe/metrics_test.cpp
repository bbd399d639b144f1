#include "stoker/runtime/observe/metrics.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

namespace stoker {
namespace {

TEST(Metrics, the_same_name_and_labels_are_the_same_metric) {
  MetricRegistry registry;
  Counter& a = registry.counter("submits_total", "Submits.", {{"device", "cpu"}});
  EXPECT_EQ(&a, &registry.counter("submits_total", "", {{"device", "cpu"}}));
  EXPECT_NE(&a, &registry.counter("submits_total", "", {{"device", "null"}}));
}

TEST(Metrics, of_others_are_read_when_a_snapshot_is_taken) {
  MetricRegistry registry;
  std::uint64_t kept = 3;
  registry.counter("b_total").add();
  // It may use the registry itself: no lock is held.
  registry.counter_from("a_total", "of others", {{"device", "x"}}, [&] {
    registry.counter("asked_total").add();
    return kept;
  });
  kept = 5;
  const MetricsSnapshot first = registry.snapshot();
  ASSERT_EQ(first.counters.size(), 2U);
  EXPECT_EQ(first.counters[0].name, "a_total");
  EXPECT_EQ(first.counters[0].help, "of others");
  EXPECT_EQ(first.counters[0].value, 5U);
  EXPECT_EQ(first.counters[1].name, "b_total");
  registry.counter_from("a_total", "of others", {{"device", "x"}}, [] { return 7U; });
  EXPECT_EQ(registry.snapshot().counters[0].value, 7U);
}

TEST(Metrics, count_from_many_threads) {
  MetricRegistry registry;
  Counter& counter = registry.counter("total");
  Gauge& gauge = registry.gauge("level");
  Histogram& histogram = registry.histogram("sizes");
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          counter.add();
          gauge.add(i % 2 == 0 ? 1 : -1);
          histogram.record(static_cast<std::uint64_t>(i));
          static_cast<void>(registry.snapshot());
        }
      });
  }
  EXPECT_EQ(counter.value(), 4000U);
  EXPECT_EQ(gauge.value(), 0);
  EXPECT_EQ(histogram.snapshot().count, 4000U);
  EXPECT_EQ(histogram.snapshot().sum, 4U * 999 * 1000 / 2);
}

TEST(Histogram, puts_values_into_powers_of_two) {
  Histogram histogram;
  for (const std::uint64_t value : {0U, 1U, 2U, 3U, 4U, 1024U}) histogram.record(value);
  histogram.record(~std::uint64_t{0});
  const HistogramSnapshot snapshot = histogram.snapshot();
  EXPECT_EQ(snapshot.buckets[0], 1U);
  EXPECT_EQ(snapshot.buckets[1], 1U);
  EXPECT_EQ(snapshot.buckets[2], 2U);
  EXPECT_EQ(snapshot.buckets[3], 1U);
  EXPECT_EQ(snapshot.buckets[11], 1U);
  EXPECT_EQ(snapshot.buckets[64], 1U);
}

TEST(Histogram, estimates_quantiles_within_a_factor_of_two) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 10000; ++value) histogram.record(value);
  const HistogramSnapshot snapshot = histogram.snapshot();
  for (const double q : {0.1, 0.5, 0.9, 0.99}) {
    EXPECT_GT(snapshot.quantile(q), q * 10000 / 2);
    EXPECT_LT(snapshot.quantile(q), q * 10000 * 2);
  }
  EXPECT_DOUBLE_EQ(snapshot.mean(), 5000.5);
  EXPECT_EQ(HistogramSnapshot{}.quantile(0.5), 0);
}

TEST(Metrics, print_as_json) {
  MetricRegistry registry;
  registry.counter("total", "help", {{"k", "v"}}).add(7);
  registry.histogram("sizes").record(8);
  const auto json = nlohmann::json::parse(registry.snapshot().to_json());
  EXPECT_EQ(json["counters"][0]["value"], 7);
  EXPECT_EQ(json["counters"][0]["labels"]["k"], "v");
  EXPECT_EQ(json["histograms"][0]["count"], 1);
}

}  // namespace
}  // namespace stoker
