#include "stoker/api/onnx/optimize/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stoker::onnx {
namespace {

constexpr std::size_t most_read = std::size_t{1} << 20;

template <class T>
std::optional<TensorData> scaled_as(const TensorData& tensor,
                                    const std::function<double(std::size_t position)>& factor) {
  std::vector<std::byte> bytes(tensor.bytes.view.size());
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, tensor.bytes.view.data() + i * sizeof(T), sizeof(T));
    const bool was_finite = std::isfinite(value);
    value = static_cast<T>(static_cast<double>(value) * factor(i));
    if (was_finite && !std::isfinite(value)) return {};
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return TensorData{.type = tensor.type,
                    .dims = tensor.dims,
                    .bytes = SharedBytes::own(std::move(bytes)),
                    .strings = {}};
}

template <class T>
void for_each_as(const TensorData& tensor,
                 const std::function<void(std::size_t position, double number)>& rule) {
  for (std::size_t i = 0; i < tensor.bytes.view.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, tensor.bytes.view.data() + i * sizeof(T), sizeof(T));
    rule(i, static_cast<double>(value));
  }
}

/// Programs build files, too.
bool is_whole(const TensorData& tensor) {
  return tensor.bytes.view.size() == tensor.elements() * (bits_of(tensor.type) / 8);
}

bool is_readable(const TensorData* tensor) {
  if (tensor == nullptr || tensor->dims.size() > Shape::max_rank || is_packed(tensor->type))
    return false;
  const auto dtype = carrier_of(tensor->type);
  const bool is_itself =
      dtype && (element_type_of(*dtype) == tensor->type || tensor->type == ElementType::boolean);
  return is_itself && !is_complex(*dtype) && tensor->elements() <= most_read && is_whole(*tensor);
}

TensorData tensor_of(const Known& known, std::vector<std::int64_t> dims) {
  return {.type = known.type(),
          .dims = std::move(dims),
          .bytes = SharedBytes::own({known.bytes().begin(), known.bytes().end()}),
          .strings = {}};
}

}  // namespace

std::optional<std::vector<double>> reals_of(const TensorData* tensor) {
  if (!is_readable(tensor)) return {};
  return Known{*tensor}.to_reals();
}

std::optional<double> scalar_of(const GraphEditor& graph, std::string_view name) {
  const TensorData* const tensor = graph.constant(name);
  if (tensor == nullptr || !tensor->dims.empty() || !is_readable(tensor)) return {};
  return Known{*tensor}.to_reals().at(0);
}

bool is_scalar(const GraphEditor& graph, std::string_view name, double number) {
  const auto value = scalar_of(graph, name);
  if (!value) return false;
  const ElementType type = graph.constant(name)->type;
  return *value == Known::reals({&number, 1}, Shape{}, type).to_reals().at(0);
}

std::optional<std::vector<std::int64_t>> integers_of(const TensorData* tensor) {
  if (!is_readable(tensor)) return {};
  const Known known{*tensor};
  if (!known.holds_integers()) return {};
  return known.to_integers();
}

TensorData tensor_of(std::span<const double> values, std::vector<std::int64_t> dims,
                     ElementType type) {
  return tensor_of(Known::reals(values, Shape{static_cast<std::int64_t>(values.size())}, type),
                   std::move(dims));
}

TensorData tensor_of(std::span<const std::int64_t> values) {
  return tensor_of(Known::integers(values), {static_cast<std::int64_t>(values.size())});
}

bool is_computed(const TensorData* tensor) noexcept {
  return tensor != nullptr &&
         (tensor->type == ElementType::f32 || tensor->type == ElementType::f64) &&
         is_whole(*tensor);
}

void for_each(const TensorData& tensor,
              const std::function<void(std::size_t position, double number)>& rule) {
  tensor.type == ElementType::f64 ? for_each_as<double>(tensor, rule)
                                  : for_each_as<float>(tensor, rule);
}

std::optional<TensorData> scaled(const TensorData& tensor,
                                 const std::function<double(std::size_t position)>& factor) {
  return tensor.type == ElementType::f64 ? scaled_as<double>(tensor, factor)
                                         : scaled_as<float>(tensor, factor);
}

}  // namespace stoker::onnx
