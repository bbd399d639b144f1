// Options that give the extents of something by name: NAME=1x3x240x320; NAME= is a scalar.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace stoker::command_line {

struct NamedShape {
  std::string name;
  std::vector<std::int64_t> extents;  ///< each ≥ 0
};

/// The option may be repeated; each fills one of `shapes`, which outlives the parser. What is none is refused with
/// the command line.
CLI::Option* add_named_shapes(CLI::App& verb, const std::string& name,
                              std::vector<NamedShape>& shapes, const std::string& summary);

}  // namespace stoker::command_line
