// Numbers from a table of text: a CSV file, plain or packed by gzip.
//
//     CsvData iris = load_csv("iris.csv", {.header = false, .skip_lines = 1, .targets = {-1},
//                                          .target_dtype = DType::s32, .scalar_targets = true});
//     CsvData houses = load_csv("houses.csv", {.targets = {"price"}});
//
// Form: csv_fields.hpp. Numbers are what C reads (1, -2.5e3, inf, nan), with blanks around them.
// The whole table is kept in memory, once.
//
// Threads: any; waits for the file. Errors are thrown: not_found (file, column name), io_error,
// invalid_argument (no number, a missing value, a row of another length, a number that the dtype
// cannot hold; details file, file_line from 1, column from 0 and its name), invalid_parameter (options).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "stoker/api/data/dataset.hpp"

namespace stoker::nn {

/// A column by its name in the header or by its place; negative ones count from the end.
struct CsvColumn {
  CsvColumn(const char* its_name) : which{std::string{its_name}} {}  // NOLINT
  CsvColumn(std::string its_name) : which{std::move(its_name)} {}    // NOLINT
  CsvColumn(int place) : which{std::int64_t{place}} {}               // NOLINT
  std::variant<std::string, std::int64_t> which;
};

/// What a field with nothing in it is.
enum class MissingValue : std::uint8_t { refused, nan };

struct CsvOptions {
  bool header = true;  ///< the first line (behind skip_lines) names the columns
  char delimiter = ',';
  std::int64_t skip_lines = 0;
  std::vector<CsvColumn> targets = {};
  std::vector<CsvColumn> inputs = {};  ///< none given: all that are no targets
  DType input_dtype = DType::f32;
  DType target_dtype = DType::f32;
  bool scalar_targets = false;  ///< of one target column: rows of shape [], as class indices are
  MissingValue missing = MissingValue::refused;
  bool finite = false;  ///< refuses NaN and infinities that are written as such
};

struct CsvData {
  Dataset data;
  std::vector<std::string> input_names;  ///< without a header "0", "1", …
  std::vector<std::string> target_names;
};
[[nodiscard]] CsvData load_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace stoker::nn
