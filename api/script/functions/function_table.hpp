// The functions that scripts have besides kernels and operations: the functions of tensors (api/tensor) that are
// composed of several operations. Each is an entry of one table, from which scripts, `stoker ops` and the
// reference page are generated.
//
// Names are those of C++, with two exceptions: functions of `random` begin with "random_", and a function whose name
// a kernel or an operation already has gets another name (reduce_median, fft_along_axis). Functions that take
// functions of the program are not available to scripts.
//
// Threads: immutable once made; any.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/pipeline/script/operations/operation.hpp"

namespace stoker::script {

/// One call, with tensors and the complete options.
class FunctionCall {
 public:
  explicit FunctionCall(const OperationCall& call) noexcept : call_{call} {}

  [[nodiscard]] std::size_t count() const noexcept { return call_.inputs.size(); }
  [[nodiscard]] Tensor x(std::size_t i = 0) const { return Tensor{call_.inputs[i]}; }
  [[nodiscard]] std::vector<Tensor> inputs() const;

  [[nodiscard]] bool flag(std::string_view name) const { return call_.params.flag(name); }
  [[nodiscard]] std::int64_t integer(std::string_view name) const {
    return call_.params.integer(name);
  }
  [[nodiscard]] double real(std::string_view name) const { return call_.params.real(name); }
  [[nodiscard]] const std::string& text(std::string_view name) const {
    return call_.params.text(name);
  }
  [[nodiscard]] const Axes& integers(std::string_view name) const {
    return call_.params.integers(name);
  }
  /// A list of integers, or nothing if it is empty.
  [[nodiscard]] std::optional<Axes> some(std::string_view name) const;
  /// The options that shape_option(), dtype_option(), axis_or_all() and reduced_axes() declare.
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] DType dtype() const;
  [[nodiscard]] std::optional<std::int64_t> axis_or_all() const;
  [[nodiscard]] Reduce over() const;

 private:
  const OperationCall& call_;
};

struct TensorFunction {
  std::string summary;
  Operation operation;
};

class FunctionTable {
 public:
  /// All functions; the same table each time.
  [[nodiscard]] static const FunctionTable& builtin();

  /// In the order in which they were added.
  [[nodiscard]] const std::vector<TensorFunction>& list() const noexcept { return functions_; }
  /// The function of that name, or null.
  [[nodiscard]] const TensorFunction* find(std::string_view name) const noexcept;

  /// `compute` takes a FunctionCall, whose number of inputs has been checked, and gives a tensor, several, or numbers
  /// drawn at random.
  template <std::invocable<const FunctionCall&> Compute>
  void add(std::string name, Arity inputs, std::vector<ParamSpec> params, std::string summary,
           Compute compute) {
    add_function(std::move(name), inputs, std::move(params), std::move(summary),
                 [compute](const FunctionCall& call) { return outputs_of(compute(call)); });
  }

 private:
  using Outputs = std::vector<Tensor>;
  void add_function(std::string name, Arity inputs, std::vector<ParamSpec> params,
                    std::string summary, std::function<Outputs(const FunctionCall&)> compute);

  static Outputs outputs_of(Tensor one) { return {std::move(one)}; }
  static Outputs outputs_of(std::pair<Tensor, Tensor> two) {
    return {std::move(two.first), std::move(two.second)};
  }
  static Outputs outputs_of(random::Drawn drawn) {
    return {std::move(drawn.values), std::move(drawn.next)};
  }
  static Outputs outputs_of(Outputs all) { return all; }

  std::vector<TensorFunction> functions_;
};

// Options that several functions have.
[[nodiscard]] ParamSpec flag_option(std::string name, bool fallback, std::string doc);
/// Without a fallback the option is required.
[[nodiscard]] ParamSpec integer_option(std::string name, std::optional<std::int64_t> fallback,
                                       std::string doc, std::optional<double> min = {});
[[nodiscard]] ParamSpec real_option(std::string name, std::optional<double> fallback,
                                    std::string doc, std::optional<double> min = {});
/// Empty if not given, unless `required`.
[[nodiscard]] ParamSpec integers_option(std::string name, std::string doc,
                                        std::optional<double> min = {}, bool required = false);
[[nodiscard]] ParamSpec choice_option(std::string name, std::string fallback,
                                      std::vector<std::string> choices, std::string doc);
[[nodiscard]] ParamSpec shape_option();
[[nodiscard]] ParamSpec dtype_option(DType fallback);
[[nodiscard]] ParamSpec axis_option(std::int64_t fallback, std::string doc);
/// One axis, or all elements.
[[nodiscard]] std::vector<ParamSpec> axis_or_all();
/// `axes` and `keepdims`, and what follows them.
[[nodiscard]] std::vector<ParamSpec> reduced_axes(std::vector<ParamSpec> more = {});

// The families; each adds its functions.
void define_creation(FunctionTable& table);
void define_shapes(FunctionTable& table);
void define_elements(FunctionTable& table);
void define_reductions(FunctionTable& table);
void define_linear_algebra(FunctionTable& table);
void define_transforms(FunctionTable& table);
void define_random(FunctionTable& table);

}  // namespace stoker::script
