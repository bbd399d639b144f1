// The records of a CSV file: RFC 4180, with any delimiter.
//
// A field may be "quoted": then delimiters and line ends in it are text, and "" is a quote. Lines
// end with LF or CRLF. A byte order mark at the beginning and empty lines are skipped.
//
// Threads: one at a time. Errors are thrown: io_error and not_found of the file,
// invalid_argument with line and column for quotes that do not match.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "stoker/api/data/packed_file.hpp"

namespace stoker::nn {

class CsvFields {
 public:
  CsvFields(const std::filesystem::path& path, char delimiter, std::string op);

  /// Skips whole lines, whatever they contain.
  void skip_lines(std::int64_t lines);
  /// The next record's fields, valid until the next call; false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
  /// The line on which the record began, counted from 1.
  [[nodiscard]] std::int64_t line() const noexcept { return first_line_; }
  [[nodiscard]] const std::string& name() const noexcept { return file_.name(); }

 private:
  static constexpr int at_end = -1;
  [[nodiscard]] int peek();
  int take();
  /// Whether a line or the file ends here.
  [[nodiscard]] bool at_line_end();
  void take_line_end();
  void read_quoted(std::string& field);
  [[noreturn]] void refuse(const std::string& reason) const;

  PackedFile file_;
  const char delimiter_;
  const std::string op_;
  std::vector<std::byte> piece_;
  std::size_t place_ = 0;
  std::size_t filled_ = 0;
  std::int64_t line_ = 1;
  std::int64_t first_line_ = 1;
  std::vector<std::string> fields_;
};

}  // namespace stoker::nn
