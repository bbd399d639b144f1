#include "named_shape.hpp"

#include <charconv>
#include <optional>

namespace stoker::command_line {
namespace {

std::optional<NamedShape> parsed_shape(const std::string& word) {
  // A name may hold '='; extents do not.
  const std::size_t end = word.rfind('=');
  if (end == std::string::npos || end == 0) return {};
  NamedShape made{.name = word.substr(0, end), .extents = {}};
  const char* at = word.data() + end + 1;
  const char* const last = word.data() + word.size();
  while (at != last) {
    std::int64_t extent = 0;
    const auto [rest, failure] = std::from_chars(at, last, extent);
    if (failure != std::errc{} || extent < 0) return {};
    made.extents.push_back(extent);
    at = rest;
    if (at != last && (*at != 'x' || ++at == last)) return {};
  }
  return made;
}

}  // namespace

CLI::Option* add_named_shapes(CLI::App& verb, const std::string& name,
                              std::vector<NamedShape>& shapes, const std::string& summary) {
  const auto read = [name, &shapes](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const auto shape = parsed_shape(word);
      if (!shape) throw CLI::ValidationError{name, "expected NAME=1x3x240x320, not '" + word + "'"};
      shapes.push_back(*shape);
    }
  };
  return verb.add_option_function<std::vector<std::string>>(name, read, summary)
      ->type_name("NAME=AxB")
      ->allow_extra_args(false);
}

}  // namespace stoker::command_line
