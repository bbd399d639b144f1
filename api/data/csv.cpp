#include "stoker/api/data/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/api/data/csv_fields.hpp"

namespace stoker::nn {
namespace {

constexpr const char* op = "load_csv";

/// All of `text` as a number, or nothing.
template <class T> std::optional<T> read_all(std::string_view text) {
  T value{};
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end ? std::optional{value} : std::nullopt;
}

template <class T> void append(std::vector<std::byte>& bytes, T value) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

/// Appends a number; false if there is none or T cannot hold it.
template <class T> bool append_number(std::vector<std::byte>& bytes, std::string_view text) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    const auto value = read_all<float>(text);
    if (value) append(bytes, T{*value});
    return value.has_value();
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto value = read_all<T>(text);
    if (value) append(bytes, *value);
    return value.has_value();
  } else if constexpr (std::is_same_v<T, bool>) {
    const auto value = read_all<int>(text);
    if (!value || (*value != 0 && *value != 1)) return false;
    append(bytes, *value == 1);
    return true;
  } else {
    auto value = read_all<T>(text);
    if (!value) {  // 3.0 and 1e3 are integers too
      const auto number = read_all<double>(text);
      constexpr double exact = 9007199254740992.0;  // 2^53: every integer up to it is a double
      if (!number || *number != std::trunc(*number) || std::abs(*number) > exact ||
          *number < static_cast<double>(std::numeric_limits<T>::min()) ||
          *number > static_cast<double>(std::numeric_limits<T>::max()))
        return false;
      value = static_cast<T>(*number);
    }
    append(bytes, *value);
    return true;
  }
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
  // A sign that from_chars does not know.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

/// Some of the columns, on their way into one array.
struct Group {
  std::vector<std::size_t> columns;
  DType dtype;
  std::vector<std::byte> bytes;
};

std::size_t place_of(const CsvColumn& column, const std::vector<std::string>& names,
                     const std::string& file, bool header) {
  if (const auto* const name = std::get_if<std::string>(&column.which)) {
    const auto at = std::ranges::find(names, *name);
    if (!header || at == names.end())
      throw Error{op,
                  ErrorCode::not_found,
                  "there is no column \"" + *name + "\" in " + file +
                      (header ? "" : ": there is no header"),
                  {{"file", file}, {"column", *name}}};
    return static_cast<std::size_t>(at - names.begin());
  }
  const auto count = static_cast<std::int64_t>(names.size());
  const std::int64_t wanted = std::get<std::int64_t>(column.which);
  const std::int64_t place = wanted < 0 ? wanted + count : wanted;
  if (place < 0 || place >= count)
    throw Error{
        op,
        ErrorCode::invalid_parameter,
        "there is no column " + std::to_string(wanted) + " in " + file + ", which has " +
            std::to_string(count) + ", counted from 0",
        {{"file", file}, {"column", std::to_string(wanted)}, {"columns", std::to_string(count)}}};
  return static_cast<std::size_t>(place);
}

std::vector<std::size_t> places_of(const std::vector<CsvColumn>& columns,
                                   const std::vector<std::string>& names, const std::string& file,
                                   bool header) {
  std::vector<std::size_t> places;
  for (const CsvColumn& column : columns) places.push_back(place_of(column, names, file, header));
  return places;
}

/// Columns count from 0, as in the options; a header's name says more.
[[noreturn]] void refuse(const CsvFields& file, std::size_t column,
                         const std::vector<std::string>& names, const CsvOptions& options,
                         const std::string& reason) {
  const std::string place = std::to_string(column);
  std::vector<Detail> details{
      {"file", file.name()}, {"file_line", std::to_string(file.line())}, {"column", place}};
  if (options.header) details.push_back({"name", names[column]});
  throw Error{op, ErrorCode::invalid_argument,
              reason + " in line " + std::to_string(file.line()) + " of " + file.name() +
                  ", column " + place + (options.header ? " (" + names[column] + ")" : ""),
              std::move(details)};
}

void append_row(Group& group, const CsvFields& file, const std::vector<std::string>& names,
                const CsvOptions& options) {
  for (const std::size_t column : group.columns) {
    const std::string& field = file.fields()[column];
    std::string_view text = trimmed(field);
    const auto refused = [&](const std::string& why) { refuse(file, column, names, options, why); };
    if (text.empty()) {
      if (options.missing == MissingValue::refused) refused("a missing value");
      text = "nan";
    } else if (const auto number = read_all<double>(text);
               options.finite && number && !std::isfinite(*number)) {
      refused(std::isnan(*number) ? "NaN" : "an infinity");
    }
    const bool fits =
        visit_dtype(group.dtype, [&]<class T>() { return append_number<T>(group.bytes, text); });
    if (!fits)
      refused("\"" + field.substr(0, 40) + "\" is no " + std::string{to_string(group.dtype)});
  }
}

void check_length(const CsvFields& file, std::size_t columns) {
  if (file.fields().size() == columns) return;
  throw Error{op,
              ErrorCode::invalid_argument,
              "expected " + std::to_string(columns) + " columns in line " +
                  std::to_string(file.line()) + " of " + file.name() + ", got " +
                  std::to_string(file.fields().size()),
              {{"file", file.name()}, {"file_line", std::to_string(file.line())}}};
}

HostArray array_of(Group& group, std::int64_t rows, bool scalar) {
  const auto columns = static_cast<std::int64_t>(group.columns.size());
  const Shape shape = scalar ? Shape{rows} : Shape{rows, columns};
  return {{group.dtype, shape}, std::move(group.bytes)};
}

std::vector<std::string> names_of(const Group& group, const std::vector<std::string>& names) {
  std::vector<std::string> chosen;
  for (const std::size_t column : group.columns) chosen.push_back(names[column]);
  return chosen;
}

void check(const CsvOptions& options) {
  if (options.delimiter == '"' || options.delimiter == '\n' || options.delimiter == '\r')
    throw Error{op, ErrorCode::invalid_parameter, "this delimiter has another meaning"};
  if (is_complex(options.input_dtype) || is_complex(options.target_dtype))
    throw Error{op, ErrorCode::invalid_parameter, "complex numbers are not read"};
  if (options.scalar_targets && options.targets.size() != 1)
    throw Error{op,
                ErrorCode::invalid_parameter,
                "scalar_targets with " + std::to_string(options.targets.size()) + " target columns",
                {{"targets", std::to_string(options.targets.size())}}};
}

}  // namespace

CsvData load_csv(const std::filesystem::path& path, const CsvOptions& options) {
  check(options);
  CsvFields file{path, options.delimiter, op};
  file.skip_lines(options.skip_lines);
  bool more = file.next();
  std::vector<std::string> names = file.fields();
  if (more && options.header)
    more = file.next();
  else
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(i);
  if (!more)
    throw Error{op,
                ErrorCode::invalid_argument,
                "the table " + file.name() + " has no rows",
                {{"file", file.name()}}};

  const auto places = [&](const std::vector<CsvColumn>& columns) {
    return places_of(columns, names, file.name(), options.header);
  };
  Group inputs{places(options.inputs), options.input_dtype, {}};
  Group targets{places(options.targets), options.target_dtype, {}};
  if (inputs.columns.empty())
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!std::ranges::count(targets.columns, i)) inputs.columns.push_back(i);
  std::int64_t rows = 0;
  for (; more; more = file.next(), ++rows) {
    check_length(file, names.size());
    append_row(inputs, file, names, options);
    append_row(targets, file, names, options);
  }

  HostRows table;
  std::vector<std::string> input_names = names_of(inputs, names);
  std::vector<std::string> target_names = names_of(targets, names);
  table.inputs.push_back(array_of(inputs, rows, false));
  if (!targets.columns.empty())
    table.targets.push_back(array_of(targets, rows, options.scalar_targets));
  return {with_row_options(dataset_from_memory(std::move(table)), {options.shape, options.scale}),
          std::move(input_names), std::move(target_names)};
}

}  // namespace stoker::nn
