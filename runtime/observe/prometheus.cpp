#include "stoker/runtime/observe/prometheus.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <vector>

#include "stoker/runtime/observe/prometheus_writer.hpp"

namespace stoker {
namespace {

using Kind = PrometheusWriter::Kind;

/// The shortest text that reads back as the same number.
template <class T> std::string number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  }
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

/// With `_` for what may not stand in a name. Names of labels have no colon.
std::string valid_name(std::string_view name, bool colons) {
  const auto letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':');
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string valid;
  if (name.empty() || digit(name[0])) valid.push_back('_');
  for (const char c : name) valid.push_back(letter(c) || digit(c) ? c : '_');
  return valid;
}

/// In # HELP a quotation mark stands for itself.
enum class Quotes : std::uint8_t { plain, escaped };
std::string escaped(std::string_view text, Quotes quotes) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '\\' || (c == '"' && quotes == Quotes::escaped)) result.push_back('\\');
    result.push_back(c);
  }
  return result;
}

std::string label_text(const MetricLabels& labels, std::string_view bound = {}) {
  std::string text;
  const auto add = [&](std::string_view key, std::string_view value) {
    text += text.empty() ? "{" : ",";
    text.append(key).append("=\"").append(escaped(value, Quotes::escaped)).append("\"");
  };
  for (const auto& [key, value] : labels) add(valid_name(key, false), value);
  if (!bound.empty()) add("le", bound);
  return text.empty() ? text : text + "}";
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::counter: return "counter";
    case Kind::gauge: return "gauge";
    case Kind::histogram: break;
  }
  return "histogram";
}

/// The values of one kind, sorted by name: those of one name lie together.
template <class Value, class Write>
void write_families(PrometheusWriter& text, const std::vector<Value>& values, Kind kind,
                    Write&& write) {
  for (auto one = values.begin(); one != values.end();) {
    const auto end = std::find_if(one, values.end(),
                                  [&](const Value& other) { return other.name != one->name; });
    const auto told = std::find_if(one, end, [](const Value& v) { return !v.help.empty(); });
    std::string name = one->name;
    if (kind == Kind::counter && !name.ends_with("_total")) name += "_total";
    text.begin(name, kind, told != end ? std::string_view{told->help} : std::string_view{});
    for (; one != end; ++one) write(*one);
  }
}

void write_histogram(PrometheusWriter& text, const MetricsSnapshot::HistogramValue& histogram) {
  constexpr std::size_t shown = 41;
  const HistogramSnapshot& value = histogram.value;
  std::array<double, shown> bounds{};
  std::array<std::uint64_t, shown + 1> counts{};
  for (std::size_t i = 0; i < value.buckets.size(); ++i) {
    // Values are whole numbers below 2^i, so the bound is included, as `le` asks.
    if (i < shown) bounds[i] = (std::ldexp(1.0, static_cast<int>(i)) - 1) * histogram.scale;
    counts[std::min(i, shown)] += value.buckets[i];
  }
  text.histogram(histogram.labels, bounds, counts,
                 static_cast<double>(value.sum) * histogram.scale);
}

}  // namespace

void PrometheusWriter::begin(std::string_view name, Kind kind, std::string_view help) {
  name_ = valid_name(name, true);
  // Metrics of two kinds, or two names with the same valid form.
  left_out_ = !names_.insert(name_).second;
  if (left_out_) return;
  if (!help.empty()) line("# HELP " + name_, "", escaped(help, Quotes::plain));
  line("# TYPE " + name_, "", name_of(kind));
}

void PrometheusWriter::histogram(const MetricLabels& labels, std::span<const double> bounds,
                                 std::span<const std::uint64_t> counts, double sum) {
  if (left_out_) return;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    const std::string bound = i < bounds.size() ? number(bounds[i]) : "+Inf";
    line(name_ + "_bucket", label_text(labels, bound), number(below));
  }
  const std::string text = label_text(labels);
  line(name_ + "_sum", text, number(sum));
  line(name_ + "_count", text, number(below));
}

template <class T> void PrometheusWriter::add(const MetricLabels& labels, T value) {
  if (!left_out_) line(name_, label_text(labels), number(value));
}
template void PrometheusWriter::add(const MetricLabels&, std::int64_t);
template void PrometheusWriter::add(const MetricLabels&, std::uint64_t);
template void PrometheusWriter::add(const MetricLabels&, double);

void PrometheusWriter::line(std::string_view name, std::string_view labels,
                            std::string_view value) {
  text_.append(name).append(labels).append(" ").append(value).append("\n");
}

void write_metrics(PrometheusWriter& text, const MetricsSnapshot& metrics) {
  const auto write_value = [&](const auto& one) { text.value(one.labels, one.value); };
  write_families(text, metrics.counters, Kind::counter, write_value);
  write_families(text, metrics.gauges, Kind::gauge, write_value);
  write_families(text, metrics.histograms, Kind::histogram,
                 [&](const MetricsSnapshot::HistogramValue& one) { write_histogram(text, one); });
}

std::string prometheus_text(const MetricsSnapshot& metrics) {
  PrometheusWriter text;
  write_metrics(text, metrics);
  return text.take();
}

}  // namespace stoker
