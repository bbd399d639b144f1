#include "stoker/kernels/fused/program.hpp"

#include <algorithm>
#include <cstdio>

namespace stoker {
namespace {

Error refuse(ErrorCode code, std::string reason, std::vector<Detail> details = {}) {
  return Error{"fused", code, std::move(reason), std::move(details)};
}

/// The least and the greatest position that `input` reads. Positions beyond 2^62 count as that.
std::array<std::int64_t, 2> reach(const FusedProgram::Input& input, const Shape& shape) {
  __int128 least = input.offset;
  __int128 most = input.offset;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const __int128 span = static_cast<__int128>(input.strides[axis]) * (shape[axis] - 1);
    (span < 0 ? least : most) += span;
  }
  constexpr __int128 bound = __int128{1} << 62;
  return {static_cast<std::int64_t>(std::max(least, -bound)),
          static_cast<std::int64_t>(std::min(most, bound))};
}

Result<void> check_input(const FusedProgram& program, std::size_t number) {
  const FusedProgram::Input& input = program.inputs[number];
  const std::string named = "input " + std::to_string(number);
  if (is_complex(input.spec.dtype))
    return refuse(ErrorCode::dtype_mismatch, named + " is complex; it is read as pairs",
                  {{"expected", "a real dtype"}, {"got", input.spec.to_string()}});
  if (input.index) {
    if (input.spec.dtype == DType::boolean)
      return refuse(ErrorCode::dtype_mismatch, named + ": an index cannot be bool",
                    {{"expected", "a numeric dtype"}, {"got", "bool"}});
    return {};
  }
  if (program.shape.empty()) return {};
  const auto [least, most] = reach(input, program.shape);
  if (least < 0 || most >= input.spec.shape.elements())
    return refuse(ErrorCode::invalid_argument, named + " reads outside its buffer",
                  {{"buffer", input.spec.to_string()},
                   {"shape", program.shape.to_string()},
                   {"first", std::to_string(least)},
                   {"last", std::to_string(most)}});
  return {};
}

std::string hex(std::uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

}  // namespace

std::vector<DType> FusedProgram::dtypes() const {
  std::vector<DType> all;
  for (const Input& input : inputs) all.push_back(input.spec.dtype);
  for (const Constant& constant : constants) all.push_back(constant.dtype);
  for (const Instruction& one : code) all.push_back(one.result);
  return all;
}

std::vector<TensorSpec> FusedProgram::buffers() const {
  std::vector<TensorSpec> specs;
  for (const Input& input : inputs)
    if (!input.index) specs.push_back(input.spec);
  return specs;
}

Result<void> FusedProgram::check() const {
  const std::size_t values = first_result() + code.size();
  if (values > max_values)
    return refuse(ErrorCode::limit_exceeded, "the program has too many values",
                  {{"limit", std::to_string(max_values)}, {"requested", std::to_string(values)}});
  if (outputs.empty()) return refuse(ErrorCode::invalid_argument, "the program has no output");
  for (std::size_t i = 0; i < inputs.size(); ++i) STOKER_TRY(check_input(*this, i));
  for (std::size_t i = 0; i < code.size(); ++i) {
    const Instruction& one = code[i];
    const std::string number = std::to_string(i);
    if (!one.function)
      return refuse(ErrorCode::invalid_argument, "instruction " + number + " has no function");
    const std::size_t here = first_result() + i;
    std::array<DType, 3> operands{};
    for (std::size_t k = 0; k < one.function->arity; ++k) {
      if (one.operands[k] >= here)
        return refuse(ErrorCode::invalid_argument,
                      "instruction " + number + " uses a value that comes later",
                      {{"instruction", number},
                       {"operand", std::to_string(one.operands[k])},
                       {"limit", std::to_string(here - 1)}});
      const std::size_t value = one.operands[k];
      operands[k] = value < inputs.size()    ? inputs[value].spec.dtype
                    : value < first_result() ? constants[value - inputs.size()].dtype
                                             : code[value - first_result()].result;
    }
    const auto dtype =
        scalar_result(*one.function, {operands.data(), one.function->arity}, one.result);
    if (dtype.has_error()) return dtype.error().with("instruction", number);
    if (*dtype != one.result)
      return refuse(ErrorCode::dtype_mismatch,
                    "instruction " + number + ", " + std::string{one.function->name} + ", gives " +
                        std::string{stoker::to_string(*dtype)} + ", not " +
                        std::string{stoker::to_string(one.result)},
                    {{"expected", std::string{stoker::to_string(*dtype)}},
                     {"got", std::string{stoker::to_string(one.result)}},
                     {"instruction", number}});
  }
  for (const Value output : outputs)
    if (output >= values)
      return refuse(ErrorCode::invalid_argument, "an output is no value of the program",
                    {{"output", std::to_string(output)}, {"limit", std::to_string(values - 1)}});
  return {};
}

std::string FusedProgram::to_string() const {
  std::string text = "fused " + shape.to_string() + "\n";
  std::size_t number = 0;
  const auto line = [&](DType dtype, const std::string& what) {
    text += "v" + std::to_string(number++) + ": " + std::string{stoker::to_string(dtype)} + " = " +
            what + "\n";
  };
  for (const Input& input : inputs) {
    std::string what = input.index ? "index " : "buffer " + input.spec.shape.to_string() + " ";
    what += "at " + std::to_string(input.offset) + " by [";
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      what += (axis ? "," : "") + std::to_string(input.strides[axis]);
    line(input.spec.dtype, what + "]");
  }
  for (const Constant& constant : constants) line(constant.dtype, hex(constant.bits));
  for (const Instruction& one : code) {
    std::string what = std::string{one.function ? one.function->name : "nothing"} + "(";
    for (std::size_t k = 0; one.function && k < one.function->arity; ++k)
      what += (k ? ", v" : "v") + std::to_string(one.operands[k]);
    line(one.result, what + ")");
  }
  text += "return";
  for (const Value output : outputs) text += " v" + std::to_string(output);
  return text + "\n";
}

std::uint64_t FusedProgram::hash() const {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : to_string()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace stoker
