#include "stoker/pipeline/kernel_graph/text_form.hpp"

#include <charconv>
#include <optional>

namespace stoker {
namespace {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

template <class Number> std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error malformed(std::string_view text, const std::string& why) {
  return Error{
      "pipeline",
      ErrorCode::invalid_argument,
      why,
      {{"expected", "kernel:in,in:out?name=value&name=value"}, {"got", std::string{text}}}};
}

Result<std::vector<std::string>> names(std::string_view text, std::string_view list,
                                       bool may_be_empty) {
  std::vector<std::string> result;
  if (list.empty() && may_be_empty) return result;
  for (const std::string_view name : split(list, ',')) {
    if (name.empty()) return malformed(text, "a value has no name");
    result.emplace_back(name);
  }
  return result;
}

}  // namespace

ParamValue parse_param_value(std::string_view text) {
  text = trim(text);
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto whole = parse_number<std::int64_t>(text)) return *whole;
  if (const auto real = parse_number<double>(text)) return *real;
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    std::vector<std::int64_t> list;
    const std::string_view inside = trim(text.substr(1, text.size() - 2));
    if (inside.empty()) return list;
    for (const std::string_view part : split(inside, ',')) {
      const auto whole = parse_number<std::int64_t>(part);
      if (!whole) return std::string{text};
      list.push_back(*whole);
    }
    return list;
  }
  return std::string{text};
}

Result<StageText> parse_stage(std::string_view text) {
  const std::size_t question = text.find('?');
  const auto fields = split(text.substr(0, question), ':');
  if (fields.size() != 3) return malformed(text, "a stage has three fields between colons");
  StageText stage;
  if (fields[0].empty()) return malformed(text, "the kernel has no name");
  stage.kernel = fields[0];
  STOKER_ASSIGN(stage.inputs, names(text, fields[1], true));
  STOKER_ASSIGN(stage.outputs, names(text, fields[2], false));
  if (question == std::string_view::npos) return stage;
  for (const std::string_view pair : split(text.substr(question + 1), '&')) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || trim(pair.substr(0, equals)).empty())
      return malformed(text, "a parameter is written name=value");
    stage.params.set(trim(pair.substr(0, equals)), parse_param_value(pair.substr(equals + 1)));
  }
  return stage;
}

}  // namespace stoker
