#include "stoker/api/serve/repository/configured_model.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::serve {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 28;  // 1 GiB of floats

[[noreturn]] void contradict(ErrorCode code, const std::string& text, const std::string& name) {
  throw Error{"config", code, text, {{"name", name}}};
}

std::string text_of(const std::vector<std::int64_t>& dims) {
  std::string text = "[";
  for (const std::int64_t extent : dims)
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  return text + "]";
}

void require_agreement_of(const char* what, const ConfigTensor& declared, bool has_rows,
                          const std::vector<onnx::ValueInfo>& infos) {
  const auto place = std::ranges::find(infos, declared.name, &onnx::ValueInfo::name);
  if (place == infos.end()) {
    std::vector<std::string_view> names;
    names.reserve(infos.size());
    for (const onnx::ValueInfo& info : infos) names.emplace_back(info.name);
    contradict(ErrorCode::not_found,
               std::string{"the model has no "} + what + " '" + declared.name + "'" +
                   did_you_mean(declared.name, names),
               declared.name);
  }
  const onnx::ValueType* const tensor = protocol::tensor_of(place->type);
  if (tensor == nullptr) return;
  const bool same_type = !declared.type || tensor->element == onnx::ElementType::undefined ||
                         tensor->element == *declared.type;
  std::vector<std::int64_t> dims = declared.dims;
  if (has_rows && !dims.empty()) dims.insert(dims.begin(), -1);
  bool same_dims = dims.empty() || !tensor->dims || tensor->dims->size() == dims.size();
  for (std::size_t i = 0; same_dims && tensor->dims && i < dims.size(); ++i)
    same_dims = dims[i] < 0 || !(*tensor->dims)[i].extent || (*tensor->dims)[i].extent == dims[i];
  if (same_type && same_dims) return;
  contradict(ErrorCode::invalid_argument,
             std::string{"the configuration has "} + what + " '" + declared.name + "' as " +
                 (declared.type ? std::string{protocol::datatype_of(*declared.type)} + " " : "") +
                 text_of(dims) + ", the model as " + protocol::declared_tensor(*tensor),
             declared.name);
}

/// From 0 to 1, the same at each start.
float fraction_of(std::uint32_t place) {
  place = (place ^ (place >> 16U)) * 0x7feb352dU;
  place = (place ^ (place >> 15U)) * 0x846ca68bU;
  return static_cast<float>((place ^ (place >> 16U)) >> 8U) / static_cast<float>(1U << 24U);
}

onnx::Value value_of(const WarmUpInput& input, std::int64_t rows) {
  std::vector<std::int64_t> extents = input.dims;
  if (rows > 0) extents.insert(extents.begin(), rows);
  std::uint64_t elements = 1;
  for (const std::int64_t extent : extents) {
    if (static_cast<std::uint64_t>(extent) > most_elements / elements)
      contradict(ErrorCode::limit_exceeded, "the sample of input '" + input.name + "' is too large",
                 input.name);
    elements *= static_cast<std::uint64_t>(extent);
  }
  const Shape shape = Shape::make(extents, "config");
  if (input.type == onnx::ElementType::string)
    return onnx::Texts{shape, std::vector<std::string>(elements)};
  const DType dtype = onnx::carrier_of(input.type).value();
  if (!input.random) return {full(shape, 0, dtype).eval(), input.type};
  std::vector<float> numbers(elements);
  for (std::uint32_t i = 0; i < numbers.size(); ++i)
    numbers[i] = is_float(dtype) ? fraction_of(i) : std::round(fraction_of(i));
  return {as_type(tensor(numbers, shape), dtype).eval(), input.type};
}

}  // namespace

void require_agreement(const ModelConfig& config, const AnyModel& model) {
  const bool has_rows = config.max_batch_size > 0;
  for (const ConfigTensor& input : config.inputs) {
    std::vector<onnx::ValueInfo> infos = model.inputs();
    infos.insert(infos.end(), model.inputs_with_default().begin(),
                 model.inputs_with_default().end());
    require_agreement_of("input", input, has_rows, infos);
  }
  for (const ConfigTensor& output : config.outputs)
    require_agreement_of("output", output, has_rows, model.outputs());
}

NamedValues inputs_of(const WarmUpSample& sample, const Device& device) {
  const DeviceScope scope{device};
  NamedValues inputs;
  for (const WarmUpInput& input : sample.inputs)
    inputs.emplace(input.name, value_of(input, sample.rows));
  return inputs;
}

std::shared_ptr<const serve::protocol::ClassLabels> read_labels(
    const ModelConfig& config, const std::filesystem::path& directory) {
  serve::protocol::ClassLabels labels;
  for (const ConfigTensor& output : config.outputs) {
    if (output.label_file.empty()) continue;
    std::ifstream file{directory / output.label_file};
    std::vector<std::string>& lines = labels[output.name];
    for (std::string line; std::getline(file, line);) {
      if (line.ends_with('\r')) line.pop_back();
      lines.push_back(line);
    }
    if (lines.empty())
      throw Error{"config",
                  ErrorCode::not_found,
                  "there are no labels of output '" + output.name + "'",
                  {{"file", output.label_file}}};
  }
  return labels.empty() ? nullptr
                        : std::make_shared<const serve::protocol::ClassLabels>(std::move(labels));
}

}  // namespace stoker::serve
