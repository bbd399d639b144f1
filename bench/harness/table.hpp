// How results are shown: a table for people, JSON for programs, Markdown for bench/README.md.
#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "stoker/bench/harness/harness.hpp"

namespace stoker::bench {

/// Prints one row to `file`, with a heading when the group is a new one.
class Table {
 public:
  explicit Table(std::FILE* file) noexcept : file_{file} {}
  void show(const Row& row);

 private:
  std::FILE* file_;
  std::string group_;
};

[[nodiscard]] std::string to_json(std::span<const Row> rows);
[[nodiscard]] std::string to_markdown(std::span<const Row> rows);

}  // namespace stoker::bench
