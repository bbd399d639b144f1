#include "stoker/api/data/csv_fields.hpp"

#include <string_view>
#include <utility>

#include "stoker/runtime/base/error.hpp"

namespace stoker::nn {

CsvFields::CsvFields(const std::filesystem::path& path, char delimiter, std::string op)
    : file_{path, op}, delimiter_{delimiter}, op_{std::move(op)}, piece_(std::size_t{1} << 16) {
  static_cast<void>(peek());
  constexpr std::string_view mark = "\xef\xbb\xbf";
  const std::string_view begin{reinterpret_cast<const char*>(piece_.data()), filled_};
  if (begin.starts_with(mark)) place_ = mark.size();
}

int CsvFields::peek() {
  if (place_ == filled_) {
    filled_ = file_.read(piece_);
    place_ = 0;
    if (filled_ == 0) return at_end;
  }
  return std::to_integer<unsigned char>(piece_[place_]);
}

int CsvFields::take() {
  const int got = peek();
  if (got == at_end) return got;
  ++place_;
  if (got == '\n') ++line_;
  return got;
}

bool CsvFields::at_line_end() {
  const int next = peek();
  return next == at_end || next == '\n' || next == '\r';
}

void CsvFields::take_line_end() {
  if (peek() == '\r') {
    take();
    if (peek() != '\n') refuse("a carriage return without a line feed");
  }
  take();
}

void CsvFields::skip_lines(std::int64_t lines) {
  for (; lines > 0 && peek() != at_end; --lines)
    for (int got = take(); got != '\n' && got != at_end;) got = take();
}

void CsvFields::read_quoted(std::string& field) {
  take();
  while (true) {
    const int got = take();
    if (got == at_end) refuse("the file ends within a quoted field");
    if (got == '"') {
      if (peek() != '"') break;
      take();
    }
    field.push_back(static_cast<char>(got));
  }
  if (!at_line_end() && peek() != static_cast<unsigned char>(delimiter_))
    refuse("text behind the quote that ends a field");
}

bool CsvFields::next() {
  while (peek() != at_end && at_line_end()) take_line_end();
  if (peek() == at_end) return false;
  first_line_ = line_;
  fields_.clear();
  while (true) {
    std::string& field = fields_.emplace_back();
    if (peek() == '"')
      read_quoted(field);
    else
      while (!at_line_end() && peek() != static_cast<unsigned char>(delimiter_)) {
        if (peek() == '"') refuse("a quote within a field that is not quoted");
        field.push_back(static_cast<char>(take()));
      }
    if (at_line_end()) break;
    take();
  }
  take_line_end();
  return true;
}

void CsvFields::refuse(const std::string& reason) const {
  const std::string column = std::to_string(fields_.empty() ? 0 : fields_.size() - 1);
  throw Error{
      op_,
      ErrorCode::invalid_argument,
      reason + " in line " + std::to_string(line_) + " of " + file_.name() + ", column " + column,
      {{"file", file_.name()}, {"file_line", std::to_string(line_)}, {"column", column}}};
}

}  // namespace stoker::nn
