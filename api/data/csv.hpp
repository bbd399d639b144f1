// Reads numbers from a CSV file, plain or gzip-compressed.
//
//     CsvData iris = load_csv("iris.csv", {.header = false, .skip_lines = 1, .targets = {-1},
//                                          .target_dtype = DType::s32, .scalar_targets = true});
//     CsvData houses = load_csv("houses.csv", {.targets = {"price"}});
//     CsvData digits = load_csv("digits.csv", {.targets = {-1}, .shape = {8, 8, 1}, .scale = 1 / 16.0});
//
// The syntax is that of RFC 4180, with a delimiter of your choice. Lines end with LF or CRLF; empty
// lines and a byte order mark are skipped. Numbers are decimal (1, -2.5e3, inf, nan); blanks around
// them are ignored. The whole table is kept in memory, once.
//
// Threads: any; blocks on the file. Throws not_found (file, column name), io_error,
// invalid_argument (not a number, a missing value, a row of another length, a number that the dtype
// cannot hold; details file, file_line from 1, column from 0 and its name), invalid_parameter
// (options), and for `shape` and `scale` what row_options.hpp says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "stoker/api/data/row_options.hpp"

namespace stoker::nn {

/// A column, by its name in the header or by its index; negative indices count from the end.
struct CsvColumn {
  CsvColumn(const char* its_name) : which{std::string{its_name}} {}  // NOLINT
  CsvColumn(std::string its_name) : which{std::move(its_name)} {}    // NOLINT
  CsvColumn(int place) : which{std::int64_t{place}} {}               // NOLINT
  std::variant<std::string, std::int64_t> which;
};

/// How an empty field is treated: refused, or read as NaN.
enum class MissingValue : std::uint8_t { refused, nan };

struct CsvOptions {
  bool header = true;  ///< the first line after skip_lines names the columns
  char delimiter = ',';
  std::int64_t skip_lines = 0;
  std::vector<CsvColumn> targets = {};
  std::vector<CsvColumn> inputs = {};  ///< default: all columns that are not targets
  DType input_dtype = DType::f32;
  DType target_dtype = DType::f32;
  bool scalar_targets = false;  ///< one target column gives rows of shape [], as for class indices
  MissingValue missing = MissingValue::refused;
  bool finite = false;               ///< refuses NaN and infinities in the file
  RowShape shape = {};               ///< of a row's inputs; not given: [columns]
  std::optional<double> scale = {};  ///< inputs times this, as f32
};

struct CsvData {
  Dataset data;
  std::vector<std::string> input_names;  ///< "0", "1", … without a header
  std::vector<std::string> target_names;
};
[[nodiscard]] CsvData load_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace stoker::nn
