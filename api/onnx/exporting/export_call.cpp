#include "stoker/api/onnx/exporting/export_call.hpp"

#include <algorithm>

#include "stoker/api/onnx/exporting/program_export.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"

namespace stoker::onnx {
namespace {

const expr::Function& function_of(const expr::Instruction& one, std::size_t function) {
  return static_cast<const expr::FunctionPayload*>(one.payload.get())->functions()[function];
}

/// What a function says of each trace.
template <class F> auto each_of(F function) {
  return Traced<decltype(function(std::size_t{}))>{function(0), function(1), function(2)};
}

template <class T> const T* attribute(const expr::Instruction& one, std::string_view name) {
  const ParamValue* const value = one.attributes.params().find(name);
  return value ? std::get_if<T>(value) : nullptr;
}

}  // namespace

ExportCall::ExportCall(ProgramExport& exporter, const Traced<expr::Program>& programs,
                       std::size_t at, std::vector<std::vector<ExportedValue>>& values)
    : exporter_{exporter},
      programs_{programs},
      first_{programs[0].code[at]},
      at_{at},
      values_{values} {}

GraphMaker& ExportCall::graph() const noexcept { return exporter_.graph(); }

void ExportCall::refuse(const std::string& why) const {
  throw Error{"onnx.save", ErrorCode::unsupported, why, {{"operation", first_.op->name}}};
}

ExportedValue& ExportCall::value(std::size_t i) const {
  const expr::Ref ref = first_.inputs[i];
  return values_[ref.instruction][ref.output];
}

std::string ExportCall::x(std::size_t i) const {
  ExportedValue& of = value(i);
  if (of.name.empty())
    of.name =
        of.thin_shape == shape(i) ? of.thin : node("Expand", {of.thin, graph().dims(shape(i))});
  return cast(of.name, own_dtype(i), dtype(i));
}

Names ExportCall::operands() const {
  Names all;
  for (std::size_t i = 0; i < count(); ++i) all.push_back(x(i));
  return all;
}

DType ExportCall::own_dtype(std::size_t i) const { return program().spec(first_.inputs[i]).dtype; }

DType ExportCall::dtype(std::size_t i) const { return widened(own_dtype(i)); }

ExtentList ExportCall::shape_of(const Traced<const TensorSpec*>& specs) const {
  auto made =
      extents_of({specs[0]->shape.extents(), specs[1]->shape.extents(), specs[2]->shape.extents()},
                 exporter_.sizes());
  if (!made) refuse("an extent is in no proportion to the batch");
  return std::move(*made);
}

ExtentList ExportCall::shape(std::size_t i) const {
  return shape_of(
      each_of([&](std::size_t trace) { return &programs_[trace].spec(in(trace).inputs[i]); }));
}

ExtentList ExportCall::out_shape(std::size_t i) const {
  return shape_of(each_of([&](std::size_t trace) { return &in(trace).specs[i]; }));
}

std::size_t ExportCall::rank(std::size_t i) const {
  return program().spec(first_.inputs[i]).shape.rank();
}

std::int64_t ExportCall::extent(std::size_t i, std::size_t axis) const {
  const Extent one = shape(i)[axis];
  if (!one.is_fixed()) refuse("ONNX wants a number that depends on the batch");
  return one.number;
}

std::optional<double> ExportCall::constant(std::size_t i) const {
  const auto number = [&](const expr::Program& program,
                          const expr::Instruction& one) -> std::optional<double> {
    const expr::Instruction* source = &program.code[one.inputs[i].instruction];
    // The same number, whatever shape it has.
    while (source->op->name == "broadcast" || source->op->name == "reshape")
      source = &program.code[source->inputs[0].instruction];
    if (source->op->kind != expr::OpKind::constant) return std::nullopt;
    return expr::constant_number(source->attributes, source->specs[0].dtype);
  };
  const auto made = number(programs_[0], in(0));
  for (const std::size_t trace : {1U, 2U})
    if (number(programs_[trace], in(trace)) != made) return std::nullopt;
  return made;
}

std::pair<std::string, ExtentList> ExportCall::small(std::size_t i) const {
  const ExportedValue& of = value(i);
  if (of.thin.empty()) return {x(i), shape(i)};
  return {cast(of.thin, own_dtype(i), dtype(i)), of.thin_shape};
}

bool ExportCall::is_uniform(std::size_t i) const { return small(i).second.empty(); }

Names ExportCall::thin_operands() {
  Names all;
  broadcast_.clear();
  for (std::size_t i = 0; i < count(); ++i) {
    auto [name, shape] = small(i);
    all.push_back(std::move(name));
    broadcast_ = broadcast(broadcast_, shape);
  }
  return all;
}

Names ExportCall::give(std::string name) { return give_thin(std::move(name), broadcast_); }

Names ExportCall::give_thin(std::string name, ExtentList shape) {
  if (shape == out_shape()) return {std::move(name)};
  values_[at_][0].thin = cast(name, out_dtype(), first_.specs[0].dtype);
  values_[at_][0].thin_shape = std::move(shape);
  return {std::string{}};
}

std::int64_t ExportCall::integer(std::string_view name) const {
  const Extent one = extent(name);
  if (!one.is_fixed()) refuse("ONNX wants a number that depends on the batch");
  return one.number;
}

Extent ExportCall::extent(std::string_view name) const {
  const auto made =
      extent_of(each_of([&](std::size_t trace) { return in(trace).attributes.integer(name); }),
                exporter_.sizes());
  if (!made) refuse("'" + std::string{name} + "' is in no proportion to the batch");
  return *made;
}

ExtentList ExportCall::extents(std::string_view name, ExtentList fallback) const {
  using List = std::vector<std::int64_t>;
  const auto lists = each_of([&](std::size_t trace) { return attribute<List>(in(trace), name); });
  if (!lists[0] || !lists[1] || !lists[2] || lists[0]->empty()) return fallback;
  auto made = extents_of({*lists[0], *lists[1], *lists[2]}, exporter_.sizes());
  if (!made) refuse("'" + std::string{name} + "' is in no proportion to the batch");
  return std::move(*made);
}

std::vector<std::int64_t> ExportCall::integers(std::string_view name,
                                               std::vector<std::int64_t> fallback) const {
  const ExtentList all = extents(name);
  if (all.empty()) return fallback;
  std::vector<std::int64_t> made;
  for (const Extent& one : all) {
    if (!one.is_fixed()) refuse("ONNX wants a number that depends on the batch");
    made.push_back(one.number);
  }
  return made;
}

std::int64_t ExportCall::axis(std::string_view name, std::size_t i) const {
  const std::int64_t given = integer(name);
  return given < 0 ? given + static_cast<std::int64_t>(rank(i)) : given;
}

std::string ExportCall::reshaped(const std::string& x, const ExtentList& from,
                                 const ExtentList& to) const {
  if (from == to) return x;
  const bool has_zero = std::ranges::find(to, Extent{}) != to.end();
  if (has_zero && opset() < 14) refuse("extents of 0 need opset 14");
  if (!has_zero && std::ranges::count_if(to, &Extent::is_fixed) + 1 == std::ssize(to)) {
    std::vector<std::int64_t> numbers;
    for (const Extent& one : to) numbers.push_back(one.is_fixed() ? one.number : -1);
    return node("Reshape", {x, graph().integers(numbers)});
  }
  if (has_zero) return node("Reshape", {x, graph().dims(to)}, {{"allowzero", std::int64_t{1}}});
  return node("Reshape", {x, graph().dims(to)});
}

std::string ExportCall::transposed(const std::string& x,
                                   const std::vector<std::int64_t>& axes) const {
  return std::ranges::is_sorted(axes) ? x : node("Transpose", {x}, {{"perm", axes}});
}

std::size_t ExportCall::results(std::size_t function) const {
  return function_of(first_, function).results.size();
}

TensorSpec ExportCall::result(std::size_t function, std::size_t i) const {
  return function_of(first_, function).results[i].spec();
}

ExtentList ExportCall::parameter_shape(std::size_t function, std::size_t i) const {
  return shape_of(each_of(
      [&](std::size_t trace) { return &function_of(in(trace), function).parameters[i].spec(); }));
}

DType ExportCall::parameter_dtype(std::size_t function, std::size_t i) const {
  return function_of(first_, function).parameters[i].dtype();
}

bool ExportCall::reads(std::size_t function, std::size_t parameter) const {
  const expr::Function& of = function_of(first_, function);
  const std::vector<expr::Value> leaves = expr::extract(of.results).leaves();
  return std::ranges::any_of(leaves, [&](const expr::Value& leaf) {
    return leaf.node() == of.parameters[parameter].node();
  });
}

Names ExportCall::inlined(std::size_t function, const Names& arguments) const {
  const expr::Function& first = function_of(first_, function);
  ProgramExport::Given given;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    given.emplace(first.parameters[i].node().get(), arguments[i]);
  return exporter_.add(
      each_of([&](std::size_t trace) {
        return std::span<const expr::Value>{function_of(in(trace), function).results};
      }),
      given);
}

}  // namespace stoker::onnx
