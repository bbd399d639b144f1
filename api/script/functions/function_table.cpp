#include "stoker/api/script/functions/function_table.hpp"

#include <algorithm>

#include "stoker/kernels/rules.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::script {
namespace {

std::string words_of(const Arity& inputs) {
  std::string text = std::to_string(inputs.min);
  if (inputs.max == expr::any_number) return text + " or more inputs";
  if (inputs.max != inputs.min) text += " to " + std::to_string(inputs.max);
  return text + (inputs.max == 1 ? " input" : " inputs");
}

void check_arity(const std::string& name, const Arity& inputs, std::size_t got) {
  if (got >= inputs.min && got <= inputs.max) return;
  throw Error{name,
              ErrorCode::arity_mismatch,
              "takes " + words_of(inputs) + ", got " + std::to_string(got),
              {{"expected", words_of(inputs)}, {"got", std::to_string(got)}}};
}

template <class T>
ParamSpec option(std::string name, ParamType type, std::optional<T> fallback, std::string doc) {
  ParamSpec spec{.name = std::move(name), .type = type, .fallback = {}, .doc = std::move(doc)};
  if (fallback) spec.fallback = ParamValue{*std::move(fallback)};
  return spec;
}

}  // namespace

std::vector<Tensor> FunctionCall::inputs() const {
  std::vector<Tensor> tensors;
  for (const expr::Value& input : call_.inputs) tensors.emplace_back(input);
  return tensors;
}

std::optional<Axes> FunctionCall::some(std::string_view name) const {
  const Axes& given = integers(name);
  return given.empty() ? std::nullopt : std::optional{given};
}

Shape FunctionCall::shape() const { return Shape::make(integers("shape"), "shape"); }

DType FunctionCall::dtype() const { return parse_dtype(text("dtype")).value(); }

std::optional<std::int64_t> FunctionCall::axis_or_all() const {
  const Axes& given = integers("axis");
  if (given.size() > 1)
    throw Error{
        "axis",
        ErrorCode::invalid_parameter,
        "axis: expected one axis, or none for all elements, got " + std::to_string(given.size()),
        {{"parameter", "axis"}, {"got", std::to_string(given.size())}}};
  return given.empty() ? std::nullopt : std::optional{given[0]};
}

Reduce FunctionCall::over() const { return {some("axes"), flag("keepdims")}; }

const FunctionTable& FunctionTable::builtin() {
  static constinit NeverDestroyed<FunctionTable> made;
  return made.get([] {
    FunctionTable table;
    for (const auto define :
         {&define_creation, &define_shapes, &define_elements, &define_reductions,
          &define_linear_algebra, &define_transforms, &define_random})
      define(table);
    return table;
  });
}

const TensorFunction* FunctionTable::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(functions_, name, [](const TensorFunction& one) {
    return std::string_view{one.operation.name};
  });
  return found == functions_.end() ? nullptr : &*found;
}

void FunctionTable::add_function(std::string name, Arity inputs, std::vector<ParamSpec> params,
                                 std::string summary,
                                 std::function<Outputs(const FunctionCall&)> compute) {
  Operation made;
  made.name = std::move(name);
  made.params = std::move(params);
  made.inputs = inputs;
  made.apply = [name = made.name, inputs, compute = std::move(compute)](const OperationCall& call) {
    check_arity(name, inputs, call.inputs.size());
    std::vector<expr::Value> values;
    for (const Tensor& output : compute(FunctionCall{call})) values.push_back(output.value());
    return values;
  };
  functions_.push_back({std::move(summary), std::move(made)});
}

ParamSpec flag_option(std::string name, bool fallback, std::string doc) {
  return option<bool>(std::move(name), ParamType::boolean, fallback, std::move(doc));
}

ParamSpec integer_option(std::string name, std::optional<std::int64_t> fallback, std::string doc,
                         std::optional<double> min) {
  ParamSpec spec = option(std::move(name), ParamType::integer, fallback, std::move(doc));
  spec.min = min;
  return spec;
}

ParamSpec real_option(std::string name, std::optional<double> fallback, std::string doc,
                      std::optional<double> min) {
  ParamSpec spec = option(std::move(name), ParamType::real, fallback, std::move(doc));
  spec.min = min;
  return spec;
}

ParamSpec integers_option(std::string name, std::string doc, std::optional<double> min,
                          bool required) {
  ParamSpec spec = option(std::move(name), ParamType::integers,
                          required ? std::nullopt : std::optional{Axes{}}, std::move(doc));
  spec.min = min;
  return spec;
}

ParamSpec choice_option(std::string name, std::string fallback, std::vector<std::string> choices,
                        std::string doc) {
  ParamSpec spec =
      option(std::move(name), ParamType::text, std::optional{std::move(fallback)}, std::move(doc));
  spec.choices = std::move(choices);
  return spec;
}

ParamSpec shape_option() {
  return integers_option("shape", "extents of the output, outermost first; empty: a scalar", 0);
}

ParamSpec dtype_option(DType fallback) {
  std::vector<std::string> choices;
  for (const DType one : rules::numeric_dtypes()) choices.emplace_back(to_string(one));
  return choice_option("dtype", std::string{to_string(fallback)}, std::move(choices),
                       "dtype of the output");
}

ParamSpec axis_option(std::int64_t fallback, std::string doc) {
  return integer_option("axis", fallback, std::move(doc) + "; a negative one counts from the end");
}

std::vector<ParamSpec> axis_or_all() {
  return {
      integers_option("axis", "one axis; a negative one counts from the end; empty: all elements"),
      flag_option("keepdims", false, "keeps reduced axes, with extent 1")};
}

std::vector<ParamSpec> reduced_axes(std::vector<ParamSpec> more) {
  std::vector<ParamSpec> params{
      integers_option("axes",
                      "axes to reduce, each once; a negative one counts from the end; empty: all"),
      flag_option("keepdims", false, "keeps reduced axes, with extent 1")};
  std::ranges::move(more, std::back_inserter(params));
  return params;
}

}  // namespace stoker::script
