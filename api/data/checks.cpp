#include "stoker/api/data/checks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

namespace stoker::nn {
namespace {

constexpr std::int64_t rows_at_once = 256;

/// Where a value stands: "input 0".
std::string name_of(const char* what, std::size_t number) {
  return std::string{what} + " " + std::to_string(number);
}

struct Found {
  std::size_t row;
  std::size_t element;  // within the row
  double value;
};

/// The first value that `bad` is true of.
std::optional<Found> first_bad(const HostArray& array, bool (*bad)(double, std::int64_t),
                               std::int64_t limit) {
  const auto rows = static_cast<std::size_t>(array.spec.shape[0]);
  const auto values = stoker::detail::converted<double>(array.bytes, array.spec);
  const std::size_t width = rows == 0 ? 0 : values.size() / rows;
  const auto at = std::ranges::find_if(values, [&](double value) { return bad(value, limit); });
  if (at == values.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(at - values.begin());
  return Found{place / width, place % width, *at};
}

bool not_finite(double value, std::int64_t) { return !std::isfinite(value); }
bool no_class(double value, std::int64_t classes) {
  return !(value >= 0 && value < static_cast<double>(classes));
}

[[noreturn]] void refuse(const std::string& array, std::int64_t first, const Found& found,
                         const std::string& what) {
  const std::string row = std::to_string(first + static_cast<std::int64_t>(found.row));
  throw Error{"check_rows",
              ErrorCode::invalid_argument,
              what + " in row " + row + " of " + array,
              {{"array", array},
               {"row", row},
               {"element", std::to_string(found.element)},
               {"value", std::to_string(found.value)}}};
}

void check_finite(const char* what, const std::vector<HostArray>& arrays, std::int64_t first) {
  for (std::size_t a = 0; a < arrays.size(); ++a)
    if (is_float(arrays[a].spec.dtype))
      if (const auto found = first_bad(arrays[a], not_finite, 0))
        refuse(name_of(what, a), first, *found, std::isnan(found->value) ? "NaN" : "an infinity");
}

void check_classes(const HostRows& rows, std::int64_t first, std::int64_t classes) {
  for (std::size_t a = 0; a < rows.targets.size(); ++a)
    if (const auto found = first_bad(rows.targets[a], no_class, classes))
      refuse(name_of("target", a), first, *found,
             "class " + std::to_string(static_cast<std::int64_t>(found->value)) + " of " +
                 std::to_string(classes) + " classes");
}

}  // namespace

void check_rows(const Tensor& x, const Tensor& y, const CheckOptions& options) {
  check_rows(Dataset{x, y}, options);
}

void check_rows(const Dataset& data, const CheckOptions& options) {
  if (data.size() == 0)
    throw Error{"check_rows", ErrorCode::invalid_argument, "the dataset has no rows"};
  for (const TensorSpec& spec : data.specs().targets)
    if (options.num_classes && !is_integer(spec.dtype))
      throw Error{"check_rows",
                  ErrorCode::dtype_mismatch,
                  "expected class indices of an integer dtype, got rows of " + spec.to_string(),
                  {{"got", spec.to_string()}}};
  std::vector<std::int64_t> indices;
  for (std::int64_t first = 0; first < data.size(); first += rows_at_once) {
    indices.resize(static_cast<std::size_t>(std::min(rows_at_once, data.size() - first)));
    std::iota(indices.begin(), indices.end(), first);
    const HostRows rows = data.rows(indices);
    if (options.finite) {
      check_finite("input", rows.inputs, first);
      check_finite("target", rows.targets, first);
    }
    if (options.num_classes) check_classes(rows, first, *options.num_classes);
  }
}

}  // namespace stoker::nn
