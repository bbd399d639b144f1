// Settings from an environment of lines NAME=value.
#include <map>

#include "fuzz.hpp"
#include "stoker/runtime/config.hpp"

namespace stoker::fuzz::config {

void run(Bytes bytes) {
  std::map<std::string, std::string, std::less<>> variables;
  for (Decisions decide{bytes}; !decide.empty();) {
    const std::string_view line = decide.text();
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    variables.insert_or_assign(std::string{line.substr(0, equals)},
                               std::string{line.substr(equals + 1)});
  }
  const Config config = Config::from([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  });
  require(config.threads <= 4096, "a number of threads that makes no sense is ignored");
}

}  // namespace stoker::fuzz::config
