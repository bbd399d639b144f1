#include "output.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "stoker/runtime/base/printable.hpp"
#include "verbs.hpp"

namespace stoker::command_line {
namespace {

/// Line `number` (from 1) of a text, or nothing.
std::string_view line_of(std::string_view text, int number) {
  for (; number > 1; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

int exit_code_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::not_found:
    case ErrorCode::unknown_kernel:
    case ErrorCode::unsupported: return no_such_thing;
    case ErrorCode::budget_exceeded:
    case ErrorCode::deadline_exceeded: return out_of_budget;
    default: return failed;
  }
}

nlohmann::json to_json(const Error& error) {
  nlohmann::json details = nlohmann::json::object();
  for (const Detail& detail : error.details()) details[detail.key] = detail.value;
  return {{"op", error.op()},
          {"code", to_string(error.code())},
          {"reason", error.reason()},
          {"details", details},
          {"retryable", error.retryable()}};
}

nlohmann::json to_json(const DeviceInfo& info) {
  nlohmann::json dtypes = nlohmann::json::array();
  for (const DType dtype : info.dtypes) dtypes.push_back(to_string(dtype));
  return {{"name", info.name},
          {"backend", info.backend},
          {"description", info.description},
          {"type", to_string(info.type)},
          {"driver", info.driver},
          {"uuid", info.uuid},
          {"memory_bytes", info.memory_bytes},
          {"compute_units", info.compute_units},
          {"dtypes", dtypes},
          {"features", info.features},
          {"has_transfer_queue", info.has_transfer_queue},
          {"unified_memory", info.unified_memory},
          {"limits",
           {{"max_allocation", info.limits.max_allocation},
            {"max_storage_range", info.limits.max_storage_range},
            {"max_groups", info.limits.max_groups},
            {"max_push_bytes", info.limits.max_push_bytes},
            {"shared_bytes", info.limits.shared_bytes},
            {"subgroup_size", info.limits.subgroup_size}}}};
}

void print_json(const nlohmann::json& value) {
  // As operator<<, but what scripts print need not be UTF-8, and JSON must be.
  nlohmann::detail::serializer<nlohmann::json> serializer{
      nlohmann::detail::output_adapter<char>{std::cout}, ' ',
      nlohmann::json::error_handler_t::replace};
  serializer.dump(value, true, false, 2);
  std::cout << '\n';
}

std::string describe(const Error& error, std::string_view source) {
  const std::string script{error.detail("script")};
  const std::string line{error.detail("line")};
  std::ostringstream text;
  if (!script.empty()) text << script << ':';
  if (!line.empty()) text << line << ':';
  if (!script.empty() || !line.empty()) text << ' ';
  if (error.op() != "script") text << error.op() << ": ";
  text << error.reason() << '\n';
  int number = 0;
  std::from_chars(line.data(), line.data() + line.size(), number);
  if (const std::string_view code = number > 0 ? line_of(source, number) : std::string_view{};
      !code.empty())
    text << "  " << line << " | " << code.substr(0, 200) << '\n';
  for (const Detail& detail : error.details())
    if (detail.key != "script" && detail.key != "line")
      text << "  " << detail.key << ": " << detail.value << '\n';
  return printable(text.str());
}

std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

int after_output(int code) {
  std::cout.flush();
  const int cause = std::fflush(stdout) != 0 ? errno : 0;
  if (cause == 0 && std::ferror(stdout) == 0 && std::cout) return code;
  std::cerr << "stoker: standard output could not be written"
            << (cause != 0 ? ": " + std::generic_category().message(cause) : std::string{}) << '\n';
  return code == ok ? failed : code;
}

}  // namespace stoker::command_line
