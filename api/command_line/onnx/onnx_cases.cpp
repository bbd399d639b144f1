#include "onnx_cases.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>

#include "stoker/api/onnx/core/value_files.hpp"
#include "stoker/api/onnx/run/prepared.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/pipeline/onnx/reading/value_reader.hpp"

namespace stoker::command_line {
namespace {

namespace fs = std::filesystem;

struct Difference {
  std::string text;  ///< empty: none
  double largest = 0;
};

struct Limits {
  double atol = 0;
  double rtol = 1e-3;
};

Limits limits_of(onnx::ElementType type, const CaseResult& result, const Tolerances& given) {
  Limits limits{.atol = 1e-5};
  if (type == onnx::ElementType::f64) limits.atol = 1e-7;
  if (type == onnx::ElementType::f16) limits.atol = 2e-3;
  if (type == onnx::ElementType::bf16) limits = {.atol = 1e-2, .rtol = 1e-2};
  if (result.operators.contains("DFT") || result.operators.contains("STFT")) limits.atol = 4e-4;
  if (given.atol) limits.atol = *given.atol;
  if (given.rtol) limits.rtol = *given.rtol;
  return limits;
}

std::string place(std::size_t at, const Shape& shape) {
  std::string text;
  auto rest = static_cast<std::int64_t>(at);
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    text = std::to_string(rest % shape[axis]) + (text.empty() ? "" : ",") + text;
    rest /= shape[axis];
  }
  return "[" + text + "]";
}

Difference compare_floats(const std::vector<double>& got, const std::vector<double>& expected,
                          const Shape& shape, const Limits& limits, std::size_t parts) {
  Difference found;
  double worst = -1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(got[i])) continue;
    if (expected[i] == got[i]) continue;
    const double apart = std::abs(got[i] - expected[i]);
    if (std::isfinite(apart)) found.largest = std::max(found.largest, apart);
    const double excess = apart - (limits.atol + limits.rtol * std::abs(expected[i]));
    if (excess <= 0 || excess <= worst) continue;
    worst = excess;
    found.text = "at " + place(i / parts, shape) + " " + std::to_string(got[i]) + " instead of " +
                 std::to_string(expected[i]);
  }
  for (std::size_t i = 0; i < got.size() && found.text.empty(); ++i)
    if (std::isnan(got[i]) != std::isnan(expected[i]) ||
        (std::isinf(expected[i]) && got[i] != expected[i]))
      found.text = "at " + place(i / parts, shape) + " " + std::to_string(got[i]) + " instead of " +
                   std::to_string(expected[i]);
  return found;
}

std::vector<double> parts_of(std::span<const std::byte> bytes, DType dtype, const Shape& shape) {
  const TensorSpec pairs{component_of(dtype), shape.appended(2)};
  return stoker::detail::converted<double>(bytes, pairs);
}

Difference compare(const onnx::Value& got, const onnx::Value& expected, const CaseResult& result,
                   const Tolerances& tolerances, bool is_random);

Difference compare_tensors(const onnx::Value& got, const onnx::Known& expected,
                           const CaseResult& result, const Tolerances& tolerances, bool is_random) {
  if (!got.is_tensor() || got.type() != expected.type() || got.shape() != expected.shape())
    return {.text = got.to_string() + " instead of " + onnx::Value{expected}.to_string()};
  if (is_random) return {};
  const std::vector<std::byte> bytes =
      got.is_known()
          ? std::vector<std::byte>{got.known().bytes().begin(), got.known().bytes().end()}
          : got.tensor().to_bytes();
  const DType dtype = expected.spec().dtype;
  const Limits limits = limits_of(expected.type(), result, tolerances);
  const std::vector<std::byte> wanted{expected.bytes().begin(), expected.bytes().end()};
  if (is_complex(dtype))
    return compare_floats(parts_of(bytes, dtype, got.shape()), parts_of(wanted, dtype, got.shape()),
                          got.shape(), limits, 2);
  if (is_float(dtype))
    return compare_floats(stoker::detail::converted<double>(bytes, expected.spec()),
                          stoker::detail::converted<double>(wanted, expected.spec()), got.shape(),
                          limits, 1);
  if (bytes == wanted) return {};
  const auto of_got = stoker::detail::converted<std::int64_t>(bytes, expected.spec());
  const auto of_expected = stoker::detail::converted<std::int64_t>(wanted, expected.spec());
  const auto [a, b] = std::ranges::mismatch(of_got, of_expected);
  return {.text = "at " + place(static_cast<std::size_t>(a - of_got.begin()), got.shape()) + " " +
                  std::to_string(*a) + " instead of " + std::to_string(*b)};
}

/// The positions of a vector's elements in their order.
template <class T> std::vector<std::int64_t> sorted_places(const std::vector<T>& all) {
  std::vector<std::int64_t> places(all.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::sort(places, {}, [&](std::int64_t i) { return all[static_cast<std::size_t>(i)]; });
  return places;
}

onnx::Value in_order(const onnx::Value& vector, const std::vector<std::int64_t>& places) {
  if (!vector.is_texts()) return vector.known().taken(places, vector.shape());
  onnx::Texts moved{.shape = vector.shape(), .strings = {}};
  for (const std::int64_t place : places)
    moved.strings.push_back(vector.texts().strings[static_cast<std::size_t>(place)]);
  return moved;
}

/// Entries of maps have no order.
Difference compare_maps(const onnx::Value& got, const onnx::Value& expected,
                        const CaseResult& result, const Tolerances& tolerances, bool is_random) {
  if (!got.is_map()) return {.text = got.to_string() + " instead of " + expected.to_string()};
  const auto sorted = [](const onnx::Value& map) {
    const std::vector<std::int64_t> places = map.keys().is_texts()
                                                 ? sorted_places(map.keys().texts().strings)
                                                 : sorted_places(map.keys().known().to_integers());
    return std::pair{in_order(map.keys(), places), in_order(map.values(), places)};
  };
  const auto [got_keys, got_values] = sorted(got);
  const auto [keys, values] = sorted(expected);
  Difference of_keys = compare(got_keys, keys, result, tolerances, false);
  if (!of_keys.text.empty()) return {.text = "keys: " + of_keys.text};
  return compare(got_values, values, result, tolerances, is_random);
}

Difference compare(const onnx::Value& got, const onnx::Value& expected, const CaseResult& result,
                   const Tolerances& tolerances, bool is_random) {
  if (expected.is_known())
    return compare_tensors(got, expected.known(), result, tolerances, is_random);
  if (expected.is_optional()) {
    // A file may hold an optional's element itself.
    if (!got.is_optional())
      return {.text = got.to_string() + " instead of " + expected.to_string()};
    if ((got.element() == nullptr) != (expected.element() == nullptr))
      return {.text = got.to_string() + " instead of " + expected.to_string()};
    if (got.element() == nullptr) return {};
    return compare(*got.element(), *expected.element(), result, tolerances, is_random);
  }
  if (expected.is_sequence()) {
    if (!got.is_sequence() || got.elements().size() != expected.elements().size())
      return {.text = got.to_string() + " instead of " + expected.to_string()};
    Difference all;
    for (std::size_t i = 0; i < expected.elements().size() && all.text.empty(); ++i) {
      const Difference one =
          compare(got.elements()[i], expected.elements()[i], result, tolerances, is_random);
      all.largest = std::max(all.largest, one.largest);
      if (!one.text.empty()) all.text = "element " + std::to_string(i) + ": " + one.text;
    }
    return all;
  }
  if (expected.is_map()) return compare_maps(got, expected, result, tolerances, is_random);
  if (!got.is_texts() || got.shape() != expected.texts().shape)
    return {.text = got.to_string() + " instead of " + expected.to_string()};
  const auto [a, b] = std::ranges::mismatch(got.texts().strings, expected.texts().strings);
  if (a == got.texts().strings.end()) return {};
  return {.text = "'" + *a + "' instead of '" + *b + "'"};
}

onnx::Value read_value_file(const fs::path& file, const onnx::ValueType& type) {
  std::ifstream stream{file, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{stream}, {}};
  if (!stream.good() && !stream.eof())
    throw Error{"onnx.test", ErrorCode::io_error, "cannot read " + file.string()};
  const auto all = std::as_bytes(std::span{text});
  const auto bytes = std::make_shared<const std::vector<std::byte>>(all.begin(), all.end());
  onnx::ValueData data =
      onnx::read_value(*bytes, type.kind, {.name = file.string()}, bytes).value();
  // ONNX up to 1.15 wrote bfloat16 as the integers of its bits.
  auto* const tensor = std::get_if<onnx::TensorData>(&data.content);
  if (tensor && type.element == onnx::ElementType::bf16 && tensor->type == onnx::ElementType::u16)
    tensor->type = type.element;
  return onnx::value_of(data);
}

void add_operators(const onnx::Graph& graph, std::set<std::string>& operators) {
  for (const onnx::Node& node : graph.nodes) {
    operators.insert(node.operator_name());
    for (const onnx::Graph* inner : onnx::graphs_of(node)) add_operators(*inner, operators);
  }
}

bool draws(const std::set<std::string>& operators) {
  return std::ranges::any_of(operators, [](const std::string& name) {
    const auto definition = onnx::OperatorTable::standard().find("", name);
    return definition && definition->random;
  });
}

/// The same model with other seeds: of its nodes, and by the options of a run.
onnx::Model reseeded(const onnx::ModelFile& file, const onnx::LoadOptions& options) {
  auto other = std::make_shared<onnx::ModelFile>(file);
  for (onnx::Node& node : other->graph.nodes)
    for (onnx::Attribute& attribute : node.attributes) {
      if (attribute.name != "seed") continue;
      if (auto* whole = std::get_if<std::int64_t>(&attribute.value)) *whole ^= 1;
      if (auto* real = std::get_if<float>(&attribute.value)) *real = *real == 0 ? 1 : -*real;
    }
  return onnx::load(std::move(other), options);
}

bool is_same(const onnx::Value& a, const onnx::Value& b) {
  return a.is_tensor() && b.is_tensor() && a.shape() == b.shape() &&
         a.tensor().to_bytes() == b.tensor().to_bytes();
}

void run_set(const fs::path& folder, const onnx::Model& model, const onnx::ModelFile& model_file,
             const onnx::LoadOptions& options, const Tolerances& tolerances, CaseResult& result) {
  onnx::NamedValues inputs;
  std::size_t next = 0;
  for (const onnx::ValueInfo& input : model.inputs()) {
    if (model_file.graph.initializer(input.name) != nullptr) continue;  // cases do not count these
    const fs::path file = folder / ("input_" + std::to_string(next++) + ".pb");
    if (fs::exists(file)) inputs.emplace(input.name, read_value_file(file, input.type));
  }
  const onnx::NamedValues outputs = model.run(inputs, {.seed = 0}).get();
  std::size_t compared = 0;
  std::optional<onnx::NamedValues> others;
  // Operators that may draw do not always: Dropout passes what it gets unless it trains.
  const auto is_random = [&](const std::string& output) {
    if (!draws(result.operators)) return false;
    if (!others) others = reseeded(model_file, options).run(inputs, {.seed = 1}).get();
    return !is_same(outputs.at(output), others->at(output));
  };
  for (std::size_t i = 0; i < model.outputs().size(); ++i) {
    const onnx::ValueInfo& output = model.outputs()[i];
    const fs::path file = folder / ("output_" + std::to_string(i) + ".pb");
    if (!fs::exists(file)) continue;
    ++compared;
    const onnx::Value expected = read_value_file(file, output.type);
    const onnx::Value& got = outputs.at(output.name);
    Difference difference = compare(got, expected, result, tolerances, false);
    if (!difference.text.empty() && is_random(output.name)) {
      difference = compare(got, expected, result, tolerances, true);
      if (difference.text.empty()) result.why = "random: shape and type only";
    }
    result.largest = std::max(result.largest, difference.largest);
    if (difference.text.empty()) continue;
    result.outcome = CaseOutcome::fail;
    result.why = folder.filename().string() + ", output '" + output.name + "': " + difference.text +
                 ", largest difference " + std::to_string(difference.largest);
    return;
  }
  if (compared > 0) return;
  result.outcome = CaseOutcome::fail;
  result.why = folder.filename().string() + " has no output to compare";
}

}  // namespace

std::vector<fs::path> find_cases(const std::vector<std::string>& folders) {
  std::vector<fs::path> cases;
  for (const std::string& folder : folders) {
    const std::size_t before = cases.size();
    if (fs::exists(fs::path{folder} / "model.onnx")) {
      cases.emplace_back(folder);
    } else if (fs::is_directory(folder)) {
      for (const auto& entry : fs::recursive_directory_iterator{folder})
        if (entry.path().filename() == "model.onnx") cases.push_back(entry.path().parent_path());
    }
    if (cases.size() == before)
      throw Error{"onnx.test",
                  ErrorCode::not_found,
                  "there is no model.onnx below '" + folder + "'",
                  {{"folder", folder}}};
  }
  std::ranges::sort(cases);
  return cases;
}

CaseResult run_case(const fs::path& folder, const onnx::LoadOptions& options,
                    const Tolerances& tolerances) {
  CaseResult result{.name = folder.filename().string()};
  try {
    const auto file =
        std::make_shared<const onnx::ModelFile>(onnx::read_model(folder / "model.onnx").value());
    result.opset = file->opset("");
    add_operators(file->graph, result.operators);
    const onnx::Model model = onnx::load(file, options);
    std::vector<fs::path> sets;
    for (const auto& entry : fs::directory_iterator{folder})
      if (entry.path().filename().string().starts_with("test_data_set_"))
        sets.push_back(entry.path());
    std::ranges::sort(sets);
    if (sets.empty()) {
      result.outcome = CaseOutcome::fail;
      result.why = "there is no test_data_set_N";
    }
    for (const fs::path& set : sets) {
      run_set(set, model, *file, options, tolerances, result);
      if (result.outcome != CaseOutcome::pass) break;
    }
  } catch (const Error& error) {
    result.outcome =
        error.code() == ErrorCode::unsupported ? CaseOutcome::unsupported : CaseOutcome::fail;
    result.why = error.what();
  } catch (const std::exception& error) {
    result.outcome = CaseOutcome::fail;
    result.why = error.what();
  }
  return result;
}

}  // namespace stoker::command_line
