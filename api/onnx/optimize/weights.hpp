// Arithmetic on constant tensors of a graph: passes make new ones, with bytes of their own, of those in the file.
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

/// The elements of floating-point numbers of 16 bits or more, integers of 8 or more, or booleans, up to 2^20
/// of them; nothing for others.
[[nodiscard]] std::optional<std::vector<double>> reals_of(const TensorData* tensor);
/// The same of a constant without axes. Nothing if it is no constant, or a tensor.
[[nodiscard]] std::optional<double> scalar_of(const GraphEditor& graph, std::string_view name);
/// Whether `name` is a constant without axes that `number`, rounded to its type, is.
[[nodiscard]] bool is_scalar(const GraphEditor& graph, std::string_view name, double number);
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers_of(const TensorData* tensor);

/// Rounded to the type, f32 or f64.
[[nodiscard]] TensorData tensor_of(std::span<const double> values, std::vector<std::int64_t> dims,
                                   ElementType type);
[[nodiscard]] TensorData tensor_of(std::span<const std::int64_t> values);

/// Whether passes compute with weights of that type: f32 and f64.
[[nodiscard]] bool is_computed(const TensorData* tensor) noexcept;
/// Precondition: is_computed().
void for_each(const TensorData& tensor,
              const std::function<void(std::size_t position, double number)>& rule);
/// Each element times factor(position); nothing if one becomes infinite. Precondition: is_computed().
[[nodiscard]] std::optional<TensorData> scaled(
    const TensorData& tensor, const std::function<double(std::size_t position)>& factor);

}  // namespace stoker::onnx
