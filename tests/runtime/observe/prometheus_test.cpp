// The text for Prometheus, read back by a small parser that is as strict as the format.
#include "stoker/runtime/observe/prometheus.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "stoker/runtime/observe/prometheus_writer.hpp"
#include "stoker/tests/runtime/observe/scrape.hpp"

namespace stoker {
namespace {

using Labels = Scrape::Labels;

Scrape scrape(const MetricRegistry& registry) {
  return Scrape{prometheus_text(registry.snapshot())};
}

TEST(Prometheus, reads_counters_and_gauges) {
  MetricRegistry registry;
  registry.counter("submits_total", "", {{"device", "cpu"}}).add(2);
  registry.counter("submits_total", "Submits.", {{"device", "gpu"}, {"queue", "0"}}).add(3);
  registry.gauge("depth").set(-4);
  EXPECT_EQ(prometheus_text(registry.snapshot()),
            "# HELP submits_total Submits.\n"
            "# TYPE submits_total counter\n"
            "submits_total{device=\"cpu\"} 2\n"
            "submits_total{device=\"gpu\",queue=\"0\"} 3\n"
            "# TYPE depth gauge\n"
            "depth -4\n");
  const Scrape seen = scrape(registry);
  EXPECT_EQ(seen.value("submits_total", {{"device", "gpu"}, {"queue", "0"}}), 3);
  EXPECT_EQ(seen.type("depth"), "gauge");
}

TEST(Prometheus, escapes_labels_and_help_each_in_its_way) {
  MetricRegistry registry;
  const std::string awkward = "a \"b\"\n\\c{},=";
  registry.counter("x_total", awkward, {{"k", awkward}}).add(1);
  const Scrape seen = scrape(registry);
  EXPECT_EQ(seen.value("x_total", {{"k", awkward}}), 1);
  EXPECT_EQ(seen.help("x_total"), awkward);
  EXPECT_NE(prometheus_text(registry.snapshot()).find("# HELP x_total a \"b\"\\n"),
            std::string::npos);
}

TEST(Prometheus, counters_end_in_total_and_names_are_valid) {
  MetricRegistry registry;
  registry.counter("requests").add(1);
  registry.gauge("2 my-gauge", "", {{"my:label", "v"}}).set(2);
  registry.gauge("requests_total").set(9);  // taken by the counter
  const Scrape seen = scrape(registry);
  EXPECT_EQ(seen.value("requests_total"), 1);
  EXPECT_EQ(seen.value("_2_my_gauge", {{"my_label", "v"}}), 2);
  EXPECT_EQ(seen.size(), 2U);
}

TEST(Prometheus, numbers_keep_all_their_digits) {
  MetricRegistry registry;
  registry.counter("bytes_total").add(12'345'678'901'234'567U);
  registry.histogram("wait_seconds", "", {}, 1e-9).record(1'234'567'890'123U);
  const std::string text = prometheus_text(registry.snapshot());
  EXPECT_NE(text.find("bytes_total 12345678901234567\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wait_seconds_sum 1234.567890123"), std::string::npos) << text;
}

TEST(Prometheus, histograms_are_cumulative_with_the_same_bounds_each_time) {
  MetricRegistry registry;
  Histogram& waits = registry.histogram("wait_seconds", "Waits.", {{"device", "cpu"}}, 1e-9);
  const std::size_t before = scrape(registry).size();
  for (const std::uint64_t value : {0U, 1U, 1000U, 1000U}) waits.record(value);
  waits.record(std::uint64_t{1} << 50);
  const Scrape seen = scrape(registry);
  EXPECT_EQ(seen.size(), before);
  EXPECT_EQ(seen.type("wait_seconds"), "histogram");
  const auto below = [&](const char* bound) {
    return seen.value("wait_seconds_bucket", {{"device", "cpu"}, {"le", bound}});
  };
  EXPECT_EQ(below("0"), 1);
  EXPECT_EQ(below("1e-09"), 2);
  EXPECT_EQ(below("+Inf"), 5);
  EXPECT_EQ(seen.value("wait_seconds_count", {{"device", "cpu"}}), 5);
  const auto buckets = seen.buckets("wait_seconds");
  ASSERT_EQ(buckets.size(), 42U);
  double last = 0;
  for (const auto& [bound, count] : buckets) {
    EXPECT_GE(count, last) << bound;
    last = count;
  }
  EXPECT_EQ(last, 5);
}

TEST(PrometheusWriter, writes_values_and_histograms_of_families_that_no_registry_has) {
  using Kind = PrometheusWriter::Kind;
  PrometheusWriter text;
  text.begin("depth", Kind::gauge, "Requests.");
  text.value({{"model", "a"}}, std::uint64_t{3});
  text.value({{"model", "b"}}, -0.5);
  text.begin("took_seconds", Kind::histogram, "");
  const double bounds[] = {0.5, 2};
  const std::uint64_t counts[] = {1, 0, 2};
  text.histogram({}, bounds, counts, 9.25);
  EXPECT_EQ(text.take(),
            "# HELP depth Requests.\n"
            "# TYPE depth gauge\n"
            "depth{model=\"a\"} 3\n"
            "depth{model=\"b\"} -0.5\n"
            "# TYPE took_seconds histogram\n"
            "took_seconds_bucket{le=\"0.5\"} 1\n"
            "took_seconds_bucket{le=\"2\"} 1\n"
            "took_seconds_bucket{le=\"+Inf\"} 3\n"
            "took_seconds_sum 9.25\n"
            "took_seconds_count 3\n");
}

TEST(PrometheusWriter, leaves_out_a_second_family_of_the_same_name) {
  using Kind = PrometheusWriter::Kind;
  MetricRegistry registry;
  registry.gauge("depth").set(1);
  PrometheusWriter text;
  write_metrics(text, registry.snapshot());
  text.begin("depth", Kind::counter, "Others.");
  text.value({}, 2);
  text.begin("width", Kind::gauge, "");
  text.value({}, 3);
  const Scrape seen{text.take()};
  EXPECT_EQ(seen.value("depth"), 1);
  EXPECT_EQ(seen.value("width"), 3);
  EXPECT_EQ(seen.size(), 2U);
}

TEST(Prometheus, nothing_is_nothing) {
  EXPECT_EQ(prometheus_text(MetricRegistry{}.snapshot()), "");
}

}  // namespace
}  // namespace stoker
