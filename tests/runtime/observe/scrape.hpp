// Reads the text that Prometheus scrapes, as strictly as its format asks.
#pragma once

#include <limits>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace stoker {

/// What a scrape would learn. Throws std::runtime_error with the line that breaks the format.
class Scrape {
 public:
  using Labels = std::map<std::string, std::string>;

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

}  // namespace stoker
