#include "stoker/runtime/observe/prometheus.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <type_traits>

namespace stoker {
namespace {

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

class Text {
 public:
  /// The values of one kind, sorted by name: those of one name lie together.
  template <class Value, class Write>
  void family(const std::vector<Value>& values, const char* type, std::string_view suffix,
              Write&& write) {
    for (auto one = values.begin(); one != values.end();) {
      std::string name = valid_name(one->name, true);
      if (!name.ends_with(suffix)) name += suffix;
      const auto end = std::find_if(one, values.end(),
                                    [&](const Value& other) { return other.name != one->name; });
      // Metrics of two kinds, or two names with the same valid form: the answer is bad with both.
      if (!names_.insert(name).second) {
        one = end;
        continue;
      }
      const auto told = std::find_if(one, end, [](const Value& v) { return !v.help.empty(); });
      if (told != end) line("# HELP " + name, escaped(told->help, Quotes::plain));
      line("# TYPE " + name, type);
      for (; one != end; ++one) write(name, *one);
    }
  }
  void line(const std::string& what, std::string_view value) {
    text_.append(what).append(" ").append(value).append("\n");
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::set<std::string> names_;
  std::string text_;
};

void write_histogram(Text& text, const std::string& name,
                     const MetricsSnapshot::HistogramValue& histogram) {
  constexpr std::size_t shown = 41;
  const HistogramSnapshot& value = histogram.value;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    below += value.buckets[i];
    // Values are whole numbers below 2^i, so the bound is included, as `le` asks.
    const double bound = (std::ldexp(1.0, static_cast<int>(i)) - 1) * histogram.scale;
    text.line(name + "_bucket" + label_text(histogram.labels, number(bound)), number(below));
  }
  text.line(name + "_bucket" + label_text(histogram.labels, "+Inf"), number(value.count));
  const std::string labels = label_text(histogram.labels);
  text.line(name + "_sum" + labels, number(static_cast<double>(value.sum) * histogram.scale));
  text.line(name + "_count" + labels, number(value.count));
}

}  // namespace

std::string prometheus_text(const MetricsSnapshot& metrics) {
  Text text;
  const auto write_value = [&](const std::string& name, const auto& one) {
    text.line(name + label_text(one.labels), number(one.value));
  };
  text.family(metrics.counters, "counter", "_total", write_value);
  text.family(metrics.gauges, "gauge", "", write_value);
  text.family(metrics.histograms, "histogram", "",
              [&](const std::string& name, const MetricsSnapshot::HistogramValue& one) {
                write_histogram(text, name, one);
              });
  return text.take();
}

}  // namespace stoker
