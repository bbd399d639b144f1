#include "predict_outputs.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "stoker/api/onnx/core/value_files.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/pipeline/onnx/writing/value_writer.hpp"
#include "stoker/pipeline/tensor/files/file_writer.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t most_rows = 16;       // that --top shows
constexpr std::int64_t most_values = 1000;  // of an output in JSON
constexpr std::size_t most_label_bytes = std::size_t{16} << 20;

/// One of the largest numbers of a row.
struct Place {
  std::size_t index = 0;
  json value;
};
using Places = std::vector<Place>;

/// Whether NumPy has the elements: not float8 and the like, which are stored as their bits.
bool is_npy(const onnx::Value& value) {
  return value.is_tensor() && (value.type() == onnx::ElementType::boolean ||
                               value.type() == onnx::element_type_of(value.tensor().dtype()));
}

/// Whether the elements are the numbers that their dtype has: not those of float8 and the like, of which there are only
/// the bits.
bool has_numbers(const onnx::Value& value) {
  if (!value.is_tensor() || is_complex(value.tensor().dtype())) return false;
  constexpr std::array narrow{onnx::ElementType::u4, onnx::ElementType::s4, onnx::ElementType::u2,
                              onnx::ElementType::s2};
  return is_npy(value) || std::ranges::find(narrow, value.type()) != narrow.end();
}

bool has_rows(const onnx::Value& value) {
  return has_numbers(value) && value.shape().rank() > 0 && value.shape().elements() > 0;
}

std::int64_t row_length(const onnx::Value& value) {
  return value.shape()[value.shape().rank() - 1];
}

/// Calls `f` with the numbers as a vector of a type that has them all.
template <class F> auto with_numbers(const Tensor& x, F&& f) {
  if (is_float(x.dtype())) return f(x.to_vector<double>());
  if (x.dtype() == DType::u64) return f(x.to_vector<std::uint64_t>());
  return f(x.to_vector<std::int64_t>());
}

/// The largest numbers of each row; of equal ones the first. NaN comes last.
std::vector<Places> top_of(const onnx::Value& value, std::uint64_t top) {
  const auto length = static_cast<std::size_t>(row_length(value));
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(top, length));
  return with_numbers(value.tensor(), [&](const auto& numbers) {
    std::vector<Places> rows;
    for (std::size_t first = 0; first < numbers.size() && rows.size() < most_rows;
         first += length) {
      std::vector<std::size_t> order(length);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::partial_sort(order, order.begin() + shown, [&](std::size_t a, std::size_t b) {
        const auto x = numbers[first + a];
        const auto y = numbers[first + b];
        const bool x_is_number = x == x;
        const bool y_is_number = y == y;
        if (x_is_number != y_is_number) return x_is_number;
        return x_is_number && x != y ? x > y : a < b;
      });
      order.resize(static_cast<std::size_t>(shown));
      rows.emplace_back();
      for (const std::size_t index : order) rows.back().push_back({index, numbers[first + index]});
    }
    return rows;
  });
}

std::string label_of(const onnx::Value& value, std::size_t index, const ShownOutputs& shown) {
  if (static_cast<std::int64_t>(shown.labels.size()) != row_length(value)) return {};
  return shown.labels[index];
}

std::string file_name(const std::string& name, std::set<std::string>& used) {
  std::string made;
  for (const char c : name.substr(0, 128)) {
    const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !made.empty());
    made += stays ? c : '_';
  }
  if (made.empty()) made = "output";
  std::string unique = made;
  for (int i = 2; !used.insert(unique).second; ++i) unique = made + "_" + std::to_string(i);
  return unique;
}

void print_top(const onnx::Value& value, const ShownOutputs& shown) {
  const auto rows = top_of(value, shown.top);
  const auto all = value.shape().elements() / static_cast<std::uint64_t>(row_length(value));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (all > 1) std::cout << "row " << row << '\n';
    for (const Place& place : rows[row]) {
      std::ostringstream line;
      line << std::setw(8) << place.index << "  " << std::setw(12);
      if (place.value.is_number_float())
        line << place.value.get<double>();
      else
        line << place.value.dump();
      const std::string label = label_of(value, place.index, shown);
      if (!label.empty()) line << "  " << printable(label);
      std::cout << line.str() << '\n';
    }
  }
  if (rows.size() < all) std::cout << "and " << all - rows.size() << " rows more\n";
}

/// A vector's numbers or texts.
json elements_json(const onnx::Value& vector) {
  if (vector.is_texts()) return vector.texts().strings;
  const onnx::Known numbers = vector.known();
  return numbers.holds_integers() ? json(numbers.to_integers()) : json(numbers.to_reals());
}

void print_map(const onnx::Value& map) {
  const json keys = elements_json(map.keys()), values = elements_json(map.values());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto shown = [](const json& one) {
      if (one.is_string()) return printable(one.get<std::string>());
      std::ostringstream text;
      if (one.is_number_float())
        text << one.get<double>();
      else
        text << one.dump();
      return text.str();
    };
    std::cout << "  " << shown(keys[i]) << "  " << shown(values[i]) << '\n';
  }
}

}  // namespace

std::vector<std::string> read_labels(const std::string& path) {
  const auto refused = [&](ErrorCode code, const std::string& reason) {
    return Error{"predict", code, reason, {{"path", path}}};
  };
  std::ifstream file{path};
  if (!file) throw refused(ErrorCode::not_found, "there is no such file");
  std::string text(most_label_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw refused(ErrorCode::io_error, "the labels cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most_label_bytes)
    throw refused(ErrorCode::limit_exceeded, "labels may be at most 16 MiB long");
  std::vector<std::string> labels;
  std::istringstream lines{std::move(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(line);
  }
  if (labels.empty()) throw refused(ErrorCode::invalid_argument, "there are no labels in it");
  return labels;
}

void check_labels(const ShownOutputs& shown, const NamedValues& outputs) {
  if (shown.labels.empty()) return;
  for (const auto& [name, value] : outputs)
    if (has_rows(value) && row_length(value) == static_cast<std::int64_t>(shown.labels.size()))
      return;
  throw Error{"predict", ErrorCode::invalid_argument,
              "there are " + std::to_string(shown.labels.size()) +
                  " labels, and no output has rows of that length"};
}

void print_output(const std::string& name, const onnx::Value& value, const ShownOutputs& shown) {
  std::cout << printable(name) << ' ' << value.to_string() << '\n';
  if (shown.top > 0 && has_rows(value)) {
    print_top(value, shown);
  } else if (value.is_tensor()) {
    const Tensor unnamed{value.tensor().value()};
    std::cout << to_string(unnamed).substr(unnamed.spec().to_string().size() + 1) << '\n';
  } else if (value.is_texts()) {
    for (const std::string& text : value.texts().strings) std::cout << printable(text) << '\n';
  } else if (value.is_sequence()) {
    for (std::size_t i = 0; i < value.elements().size(); ++i)
      print_output(name + "[" + std::to_string(i) + "]", value.elements()[i], shown);
  } else if (value.is_map()) {
    print_map(value);
  } else if (value.is_optional() && value.element() != nullptr) {
    print_output(name, *value.element(), shown);
  }
}

json output_json(const std::string& name, const onnx::Value& value, const ShownOutputs& shown) {
  json made{{"name", name}, {"value", value.to_string()}};
  if (value.is_tensor() || value.is_texts()) {
    made["type"] = onnx::to_string(value.type());
    const auto extents = value.shape().extents();
    made["shape"] = std::vector<std::int64_t>{extents.begin(), extents.end()};
  }
  if (value.is_texts()) made["values"] = value.texts().strings;
  if (has_rows(value) && shown.top > 0) {
    json rows = json::array();
    for (const std::vector<Place>& row : top_of(value, shown.top)) {
      rows.push_back(json::array());
      for (const Place& place : row) {
        rows.back().push_back({{"index", place.index}, {"value", place.value}});
        const std::string label = label_of(value, place.index, shown);
        if (!label.empty()) rows.back().back()["label"] = label;
      }
    }
    made["top"] = std::move(rows);
  } else if (has_numbers(value) && value.shape().elements() <= most_values) {
    with_numbers(value.tensor(), [&](const auto& numbers) { made["values"] = numbers; });
  }
  if (value.is_sequence()) {
    made["elements"] = json::array();
    for (const onnx::Value& one : value.elements())
      made["elements"].push_back(output_json(name, one, shown));
  }
  if (value.is_map()) {
    made["keys"] = elements_json(value.keys());
    made["values"] = elements_json(value.values());
  }
  if (value.is_optional())
    made["element"] =
        value.element() == nullptr ? json{} : output_json(name, *value.element(), shown);
  return made;
}

std::vector<std::string> write_outputs(const NamedValues& outputs, const std::string& folder,
                                       bool as_npy) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    throw Error{"predict",
                ErrorCode::io_error,
                "the folder cannot be made: " + failure.message(),
                {{"path", folder}}};
  std::set<std::string> used;
  std::vector<std::string> paths;
  for (const auto& [name, value] : outputs) {
    const bool npy = as_npy && is_npy(value);
    const fs::path path = fs::path{folder} / (file_name(name, used) + (npy ? ".npy" : ".pb"));
    if (npy) {
      save_npy(path, value.tensor());
    } else {
      const auto writer = files::FileWriter::open(path, "predict").value();
      static_cast<void>(
          writer->write(onnx::write_value(onnx::data_of(name, value)).written()).value());
      static_cast<void>(writer->commit().value());
    }
    paths.push_back(path.string());
  }
  return paths;
}

}  // namespace stoker::command_line
