#include "numbers.hpp"

#include <charconv>
#include <optional>
#include <sstream>

namespace stoker::command_line {
namespace {

template <class T> std::optional<T> number_in(const std::string& text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || rest != end) return std::nullopt;
  return number;
}

[[noreturn]] void refuse(const std::string& name, const std::string& expected,
                         const std::string& got) {
  throw CLI::ValidationError{name, "expected " + expected + ", not '" + got + "'"};
}

}  // namespace

CLI::Option* add_whole(CLI::App& verb, const std::string& name, Whole range,
                       std::function<void(std::uint64_t)> set, const std::string& summary) {
  const auto read = [name, range, set = std::move(set)](const std::string& text) {
    const auto number = number_in<std::uint64_t>(text);
    if (!number || *number < range.least || *number > range.most)
      refuse(name,
             "a whole number from " + std::to_string(range.least) + " to " +
                 std::to_string(range.most),
             text);
    set(*number);
  };
  return verb.add_option_function<std::string>(name, read, summary)->type_name("N");
}

CLI::Option* add_seconds(CLI::App& verb, const std::string& name, double least, double& seconds,
                         const std::string& summary) {
  constexpr double most = 1e9;
  const auto read = [name, least, &seconds](const std::string& text) {
    const auto number = number_in<double>(text);
    if (!number || !(*number == 0 || (*number >= least && *number <= most))) {
      std::ostringstream range;
      range << "seconds, 0 or from " << least << " to " << most;
      refuse(name, range.str(), text);
    }
    seconds = *number;
  };
  return verb.add_option_function<std::string>(name, read, summary)->type_name("S");
}

}  // namespace stoker::command_line
