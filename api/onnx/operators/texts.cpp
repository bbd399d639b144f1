// Strings: the host computes them while a model is traced.
#include <re2/re2.h>

#include <algorithm>
#include <map>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/onnx/core/letter_case.hpp"
#include "stoker/pipeline/onnx/graph/shown.hpp"

namespace stoker::onnx::operators::texts {
namespace {

Values concat(Call& call) {
  const Texts& a = call.input(0).texts();
  const Texts& b = call.input(1).texts();
  const Shape shape = broadcast_shape(call);
  check_host_count(call, shape.elements());
  const auto at_a = broadcast_positions(a.shape, shape);
  const auto at_b = broadcast_positions(b.shape, shape);
  Texts made{.shape = shape, .strings = {}};
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < at_a.size(); ++i) {
    const std::string& first = a.strings[static_cast<std::size_t>(at_a[i])];
    const std::string& second = b.strings[static_cast<std::size_t>(at_b[i])];
    bytes += first.size() + second.size();
    check_host_count(call, static_cast<std::int64_t>(bytes));  // a loop may double them
    made.strings.push_back(first + second);
  }
  return {Value{std::move(made)}};
}

/// Without a delimiter at runs of blanks, as Python does; at most `most` times.
std::vector<std::string> parts_of(const std::string& text, const std::string& delimiter,
                                  std::int64_t most) {
  std::vector<std::string> parts;
  constexpr std::string_view blanks = " \t\n\r\f\v";
  std::size_t at = delimiter.empty() ? text.find_first_not_of(blanks) : 0;
  if (text.empty()) return parts;
  while (at != std::string::npos && at <= text.size()) {
    const bool is_last = most >= 0 && static_cast<std::int64_t>(parts.size()) == most;
    std::size_t end = delimiter.empty() ? text.find_first_of(blanks, at) : text.find(delimiter, at);
    if (is_last || end == std::string::npos) {
      std::string rest = text.substr(at);
      if (delimiter.empty()) rest.erase(rest.find_last_not_of(blanks) + 1);
      parts.push_back(std::move(rest));
      break;
    }
    parts.push_back(text.substr(at, end - at));
    at = delimiter.empty() ? text.find_first_not_of(blanks, end) : end + delimiter.size();
  }
  return parts;
}

Values split(Call& call) {
  const Texts& x = call.input(0).texts();
  const std::string delimiter = call.node().text("delimiter", "");
  const std::int64_t most = call.node().has("maxsplit") ? call.node().integer("maxsplit") : -1;
  std::vector<std::vector<std::string>> all;
  std::vector<std::int64_t> counts;
  std::size_t widest = 0;
  for (const std::string& text : x.strings) {
    all.push_back(parts_of(text, delimiter, most));
    counts.push_back(static_cast<std::int64_t>(all.back().size()));
    widest = std::max(widest, all.back().size());
  }
  Texts made{.shape = x.shape.appended(static_cast<std::int64_t>(widest)), .strings = {}};
  for (std::vector<std::string>& parts : all) {
    parts.resize(widest);
    made.strings.insert(made.strings.end(), parts.begin(), parts.end());
  }
  return {Value{std::move(made)}, Known::integers(counts, x.shape)};
}

std::string in_case(const std::string& text, const std::string& action) {
  if (action == "NONE") return text;
  return onnx::in_case(text, action == "LOWER" ? LetterCase::lower : LetterCase::upper);
}

/// [n] or [1, n]: without stop words, in the case that is asked for.
Values normalize(Call& call) {
  const Texts& x = call.input(0).texts();
  const std::string action = call.node().text("case_change_action", "NONE");
  const bool minds_case = call.node().flag("is_case_sensitive", false);
  if (x.shape.rank() == 0 || x.shape.rank() > 2 || (x.shape.rank() == 2 && x.shape[0] != 1))
    call.refuse(ErrorCode::shape_mismatch, "expected [n] or [1, n]");
  std::vector<std::string> stops;
  if (const auto* given = call.node().texts("stopwords")) stops = *given;
  const std::string folded = minds_case ? "NONE" : action == "NONE" ? "LOWER" : action;
  for (std::string& stop : stops) stop = in_case(stop, folded);
  Texts made{.shape = {}, .strings = {}};
  for (const std::string& text : x.strings)
    if (stops.empty() || std::ranges::find(stops, in_case(text, folded)) == stops.end())
      made.strings.push_back(in_case(text, action));
  if (made.strings.empty()) made.strings.emplace_back();
  const auto n = static_cast<std::int64_t>(made.strings.size());
  made.shape = x.shape.rank() == 1 ? Shape{n} : Shape{1, n};
  return {Value{std::move(made)}};
}

/// RE2 takes time that grows with the text alone, whatever the expression, so one of a stranger's is no harm.
RE2 expression_of(const Node& node) {
  RE2::Options options;
  options.set_log_errors(false);
  return RE2{node.text("pattern", ""), options};
}

Values full_match(Call& call) {
  const Texts& x = call.input(0).texts();
  const RE2 expression = expression_of(call.node());
  std::vector<std::int64_t> matches;
  matches.reserve(x.strings.size());
  for (const std::string& text : x.strings)
    matches.push_back(RE2::FullMatch(text, expression) ? 1 : 0);
  return {Known::integers(matches, x.shape, ElementType::boolean)};
}

// TfIdfVectorizer --------------------------------------------------------------------------------------

template <class T>
std::vector<double> counts_of(const Call& call, std::span<const T> row,
                              const std::vector<T>& pool) {
  const Node& node = call.node();
  const Axes starts = node.integers("ngram_counts", {});
  const Axes columns = node.integers("ngram_indexes", {});
  const std::int64_t least = node.integer("min_gram_length");
  const std::int64_t most = node.integer("max_gram_length");
  const std::int64_t skips = node.integer("max_skip_count");
  std::map<std::vector<T>, std::size_t> grams;
  std::size_t which = 0;
  for (std::size_t length = 1; length <= starts.size(); ++length) {
    const auto first = static_cast<std::size_t>(starts[length - 1]);
    const std::size_t end =
        length < starts.size() ? static_cast<std::size_t>(starts[length]) : pool.size();
    if (first > end || end > pool.size()) call.refuse(ErrorCode::invalid_parameter, "ngram_counts");
    for (std::size_t at = first; at + length <= end; at += length)
      grams.emplace(std::vector<T>(pool.begin() + static_cast<std::ptrdiff_t>(at),
                                   pool.begin() + static_cast<std::ptrdiff_t>(at + length)),
                    which++);
  }
  if (which > columns.size()) call.refuse(ErrorCode::invalid_parameter, "ngram_indexes");
  std::int64_t width = 0;
  for (const std::int64_t column : columns) {
    if (column < 0) call.refuse(ErrorCode::invalid_parameter, "ngram_indexes");
    check_host_count(call, column);
    width = std::max(width, column + 1);
  }
  if (least < 1 || most < least || skips < 0)
    call.refuse(ErrorCode::invalid_parameter, "the lengths or the skips of n-grams");
  // An n-gram that is longer than the row, or skips more than it has, is not in it.
  const auto row_length = static_cast<std::int64_t>(row.size());
  std::vector<double> counts(static_cast<std::size_t>(width));
  for (std::int64_t length = least; length <= std::min(most, row_length); ++length)
    for (std::int64_t skip = 0; skip <= (length == 1 ? 0 : std::min(skips, row_length)); ++skip) {
      const std::int64_t step = skip + 1;
      for (std::int64_t at = 0; at + (length - 1) * step < row_length; ++at) {
        std::vector<T> gram;
        for (std::int64_t i = 0; i < length; ++i)
          gram.push_back(row[static_cast<std::size_t>(at + i * step)]);
        if (const auto found = grams.find(gram); found != grams.end())
          counts[static_cast<std::size_t>(columns[found->second])] += 1;
      }
    }
  // Weights stand in the order of the n-grams; so do their columns.
  const std::string mode = node.text("mode");
  const auto* weights = node.reals("weights");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    double& count = counts[static_cast<std::size_t>(columns[i])];
    const double weight = weights && i < weights->size() ? (*weights)[i] : 1.0;
    if (mode == "IDF")
      count = count > 0 ? weight : 0;
    else if (mode == "TFIDF")
      count *= weight;
    else if (mode != "TF")
      call.refuse(ErrorCode::invalid_parameter, "mode '" + mode + "'");
  }
  return counts;
}

Values tf_idf(Call& call) {
  const Shape shape = call.shape();
  if (shape.rank() != 1 && shape.rank() != 2)
    call.refuse(ErrorCode::shape_mismatch, "expected [n] or [batch, n]");
  const std::int64_t rows = shape.rank() == 1 ? 1 : shape[0];
  const auto length = static_cast<std::size_t>(shape[shape.rank() - 1]);
  std::vector<double> all;
  const auto add_rows = [&](const auto& elements, const auto& pool) {
    using T = typename std::remove_cvref_t<decltype(pool)>::value_type;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto counts = counts_of<T>(
          call,
          std::span<const T>{elements}.subspan(static_cast<std::size_t>(row) * length, length),
          pool);
      all.insert(all.end(), counts.begin(), counts.end());
    }
  };
  if (call.input(0).is_texts()) {
    const auto* pool = call.node().texts("pool_strings");
    add_rows(call.input(0).texts().strings, pool ? *pool : std::vector<std::string>{});
  } else {
    add_rows(call.known(0).to_integers(), call.node().integers("pool_int64s", {}));
  }
  const std::int64_t width = rows == 0 ? 0 : static_cast<std::int64_t>(all.size()) / rows;
  return {Known::reals(all, shape.rank() == 1 ? Shape{width} : Shape{rows, width})};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "StringConcat",
             .since = {20},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(ElementType::string),
             .lower = &concat});
  table.add({.name = "StringSplit",
             .since = {20},
             .most_outputs = 2,
             .types = {.operands = {ElementType::string},
                       .results = {ElementType::string, ElementType::s64}},
             .attributes = {"delimiter", "maxsplit"},
             .lower = &split});
  table.add({.name = "StringNormalizer",
             .since = {10},
             .types = alike(ElementType::string),
             .attributes = {"case_change_action", "is_case_sensitive", "locale", "stopwords"},
             .lower = &normalize});
  table.add({.name = "RegexFullMatch",
             .since = {20},
             .types = {.operands = {ElementType::string}, .results = {ElementType::boolean}},
             .attributes = {"pattern"},
             .refuse =
                 [](const Node& node, int) {
                   if (!node.has("pattern")) return std::string{"it has no pattern"};
                   const RE2 expression = expression_of(node);
                   if (expression.ok()) return std::string{};
                   return "its pattern is none of RE2's: " + shown(expression.error());
                 },
             .lower = &full_match});
  table.add(
      {.name = "TfIdfVectorizer",
       .since = {9},
       .types = {.operands = {index_types | ElementType::string}, .results = {ElementType::f32}},
       .attributes = {"max_gram_length", "max_skip_count", "min_gram_length", "mode",
                      "ngram_counts", "ngram_indexes", "pool_int64s", "pool_strings", "weights"},
       .decides = {0},
       .lower = &tf_idf});
}

}  // namespace stoker::onnx::operators::texts
