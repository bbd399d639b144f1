// Arithmetic on constant tensors of a graph. Passes make new tensors with their own bytes from those in the file.
//
// Pure functions; any thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {

/// The elements of a tensor of floats of 16 bits or more, integers of 8 bits or more, or booleans, with at
/// most 2^20 elements; nothing for others.
[[nodiscard]] std::optional<std::vector<double>> reals_of(const TensorData* tensor);
/// The number of a scalar constant; nothing if it is not constant or has axes.
[[nodiscard]] std::optional<double> scalar_of(const GraphEditor& graph, std::string_view name);
/// Whether `name` is a scalar constant that equals `number`, rounded to its type.
[[nodiscard]] bool is_scalar(const GraphEditor& graph, std::string_view name, double number);
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers_of(const TensorData* tensor);

/// A tensor of the values, rounded to the type, f32 or f64.
[[nodiscard]] TensorData tensor_of(std::span<const double> values, std::vector<std::int64_t> dims,
                                   ElementType type);
[[nodiscard]] TensorData tensor_of(std::span<const std::int64_t> values);

/// Whether passes compute with weights of that type: f32 and f64.
[[nodiscard]] bool is_computed(const TensorData* tensor) noexcept;
/// Precondition: is_computed().
void for_each(const TensorData& tensor,
              const std::function<void(std::size_t position, double number)>& rule);
/// The tensor with each element multiplied by factor(position); nothing if one becomes infinite.
/// Precondition: is_computed().
[[nodiscard]] std::optional<TensorData> scaled(
    const TensorData& tensor, const std::function<double(std::size_t position)>& factor);

}  // namespace stoker::onnx
