#include "param_text.hpp"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "markdown.hpp"

namespace stoker::command_line {
namespace {

std::string param_row(const ParamSpec& param) {
  std::string row = "| `" + param.name + "` | " + std::string{to_string(param.type)} + " | " +
                    (param.fallback ? "`" + to_string(*param.fallback) + "`" : "required") + " | ";
  for (std::size_t i = 0; i < param.choices.size(); ++i)
    row += (i == 0 ? "`" : ", `") + param.choices[i] + '`';
  if (param.min) row += "≥ " + to_string(ParamValue{*param.min});
  if (param.min && param.max) row += ", ";
  if (param.max) row += "≤ " + to_string(ParamValue{*param.max});
  return row + " | " + markdown_text(param.doc) + " |\n";
}

}  // namespace

std::string param_lines(const ParamSpec& param) {
  std::ostringstream text;
  const auto width = static_cast<int>(std::max<std::size_t>(16, param.name.size() + 1));
  text << "  " << std::left << std::setw(width) << param.name << std::setw(10)
       << to_string(param.type)
       << (param.fallback ? "default " + to_string(*param.fallback) : std::string{"required"});
  for (std::size_t i = 0; i < param.choices.size(); ++i)
    text << (i == 0 ? "; " : " | ") << param.choices[i];
  if (param.min || param.max) {
    text << "; ";
    if (param.min) text << *param.min << " ≤ ";
    text << "it";
    if (param.max) text << " ≤ " << *param.max;
  }
  text << "\n    " << param.doc << '\n';
  return text.str();
}

std::string param_table(std::string_view heading, std::span<const ParamSpec> params) {
  if (params.empty()) return {};
  std::string table =
      "\n| " + std::string{heading} + " | type | default | range | |\n|---|---|---|---|---|\n";
  for (const ParamSpec& param : params) table += param_row(param);
  return table;
}

nlohmann::json to_json(const ParamSpec& param) {
  nlohmann::json entry{{"name", param.name},
                       {"type", to_string(param.type)},
                       {"doc", param.doc},
                       {"required", !param.fallback}};
  if (param.fallback)
    entry["default"] =
        std::visit([](const auto& held) { return nlohmann::json(held); }, *param.fallback);
  if (param.min) entry["min"] = *param.min;
  if (param.max) entry["max"] = *param.max;
  if (!param.choices.empty()) entry["choices"] = param.choices;
  return entry;
}

}  // namespace stoker::command_line
