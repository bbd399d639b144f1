// Options that take numbers: in decimal digits, within their range, or the command line is refused. The
// parser's own would take -1 for 2^64 - 1, 010 for 8 and 1e999 for infinity.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace stoker::command_line {

struct Whole {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};
/// Calls `set` with what was given.
CLI::Option* add_whole(CLI::App& verb, const std::string& name, Whole range,
                       std::function<void(std::uint64_t)> set, const std::string& summary);

/// Seconds: 0, or from `least` to 1e9, which nanoseconds still count.
CLI::Option* add_seconds(CLI::App& verb, const std::string& name, double least, double& seconds,
                         const std::string& summary);

}  // namespace stoker::command_line
