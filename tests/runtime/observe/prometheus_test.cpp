// The text for Prometheus, read back by a small parser that is as strict as the format.
#include "stoker/runtime/observe/prometheus.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace stoker {
namespace {

using Labels = std::map<std::string, std::string>;

/// What a scrape would learn. Throws std::runtime_error with the line that breaks the format.
class Scrape {
 public:
  explicit Scrape(const std::string& text) {
    if (!text.empty() && text.back() != '\n') throw std::runtime_error{"no line feed at the end"};
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) read(line);
  }

  [[nodiscard]] double value(const std::string& name, const Labels& labels = {}) const {
    return values_.at({name, labels});
  }
  [[nodiscard]] bool has(const std::string& name, const Labels& labels = {}) const {
    return values_.contains({name, labels});
  }
  [[nodiscard]] const std::string& type(const std::string& name) const { return types_.at(name); }
  [[nodiscard]] const std::string& help(const std::string& name) const { return helps_.at(name); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  /// The counts of a histogram by their bounds.
  [[nodiscard]] std::map<double, double> buckets(const std::string& name) const {
    std::map<double, double> found;
    for (const auto& [key, value] : values_)
      if (key.first == name + "_bucket") found[number(key.second.at("le"), name)] = value;
    return found;
  }

 private:
  static void require(bool holds, const std::string& line) {
    if (!holds) throw std::runtime_error{"not the format: " + line};
  }

  void read(const std::string& line) {
    static const std::regex comment{R"(# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*))"};
    if (std::smatch match; std::regex_match(line, match, comment)) {
      const std::string name = match[2];
      auto& known = match[1] == "TYPE" ? types_ : helps_;
      require(known.emplace(name, match[1] == "TYPE" ? match[3].str() : unescaped(match[3], false))
                  .second,
              line);
      if (match[1] == "HELP") return;
      require(match[3] == "counter" || match[3] == "gauge" || match[3] == "histogram", line);
      require(done_.insert(current_).second || current_.empty(), line);
      current_ = name;
      return;
    }
    static const std::regex begin{R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? ([^ ]+))"};
    std::smatch match;
    require(std::regex_match(line, match, begin), line);
    const std::string name = match[1];
    require(belongs(name), line);
    require(
        values_.emplace(std::pair{name, labels_of(match[3], line)}, number(match[4], line)).second,
        line);
  }

  /// Values stand behind the TYPE line of their family, and only there.
  [[nodiscard]] bool belongs(const std::string& name) const {
    if (current_.empty() || done_.contains(current_)) return false;
    if (types_.at(current_) != "histogram") return name == current_;
    return name == current_ + "_bucket" || name == current_ + "_sum" || name == current_ + "_count";
  }

  static Labels labels_of(std::string text, const std::string& line) {
    static const std::regex pair{R"re(([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(,|$))re"};
    Labels labels;
    while (!text.empty()) {
      std::smatch match;
      require(std::regex_search(text, match, pair, std::regex_constants::match_continuous), line);
      require(labels.emplace(match[1], unescaped(match[2], true)).second, line);
      require(match[3].length() == 0 || match.suffix().length() != 0, line);
      text = match.suffix();
    }
    return labels;
  }

  static std::string unescaped(const std::string& text, bool quotes) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        plain.push_back(text[i]);
        continue;
      }
      const char next = i + 1 < text.size() ? text[++i] : ' ';
      require(next == 'n' || next == '\\' || (quotes && next == '"'), text);
      plain.push_back(next == 'n' ? '\n' : next);
    }
    return plain;
  }

  static double number(const std::string& text, const std::string& line) {
    if (text == "+Inf") return std::numeric_limits<double>::infinity();
    static const std::regex form{R"([-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)"};
    require(std::regex_match(text, form), line);
    return std::stod(text);
  }

  std::map<std::pair<std::string, Labels>, double> values_;
  std::map<std::string, std::string> types_;
  std::map<std::string, std::string> helps_;
  std::string current_;
  std::set<std::string> done_;
};

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

TEST(Prometheus, nothing_is_nothing) {
  EXPECT_EQ(prometheus_text(MetricRegistry{}.snapshot()), "");
}

}  // namespace
}  // namespace stoker
