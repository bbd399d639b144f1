#include "stoker/kernels/scalar/function.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "stoker/kernels/scalar/families.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker {
namespace {

namespace scalar = kernels::scalar;

struct Table {
  std::vector<const ScalarFunction*> list;
  std::map<std::string_view, const ScalarFunction*> by_name;

  Table() {
    for (const scalar::Family& family : scalar::families())
      for (const ScalarFunction& function : family.functions) {
        list.push_back(&function);
        by_name.emplace(function.name, &function);
      }
  }
};

/// Never destroyed: a thread may still put a kernel together while the process exits.
const Table& table() {
  static constinit NeverDestroyed<Table> made;
  return made.get([] { return Table{}; });
}

std::string_view to_string(ScalarOperands rule) noexcept {
  switch (rule) {
    case ScalarOperands::floats: return "a float dtype";
    case ScalarOperands::integers: return "an integer dtype";
    case ScalarOperands::numeric: return "any dtype but bool";
    case ScalarOperands::any: break;
  }
  return "any real dtype";
}

Error mismatch(const ScalarFunction& function, std::size_t operand, std::string_view expected,
               DType got) {
  return Error{std::string{function.name},
               ErrorCode::dtype_mismatch,
               "operand " + std::to_string(operand) + " is " + std::string{stoker::to_string(got)} +
                   ", expected " + std::string{expected},
               {{"operand", std::to_string(operand)},
                {"expected", std::string{expected}},
                {"got", std::string{stoker::to_string(got)}}}};
}

}  // namespace

std::span<const scalar::Family> scalar::families() noexcept {
  static const Family all[] = {{"arithmetic", arithmetic()},
                               {"comparison", comparison()},
                               {"logic", logic()},
                               {"bits", bits()},
                               {"exponential", exponential()},
                               {"trigonometric", trigonometric()},
                               {"error_function", error_function()},
                               {"conversion", conversion()}};
  return all;
}

Result<const ScalarFunction*> find_scalar_function(std::string_view name) {
  const auto found = table().by_name.find(name);
  if (found != table().by_name.end()) return found->second;
  std::vector<std::string_view> known;
  for (const ScalarFunction* function : table().list) known.push_back(function->name);
  std::string reason = "no scalar function is named '" + std::string{name} + "'";
  std::vector<Detail> details{{"function", std::string{name}}};
  reason += did_you_mean(name, known);
  if (const auto nearest = nearest_name(name, known))
    details.push_back({"nearest", std::string{*nearest}});
  return Error{"fused", ErrorCode::not_found, std::move(reason), std::move(details)};
}

bool takes(const ScalarFunction& function, DType dtype) noexcept {
  if (is_complex(dtype)) return false;
  switch (function.takes) {
    case ScalarOperands::floats: return is_float(dtype);
    case ScalarOperands::integers: return is_integer(dtype);
    case ScalarOperands::numeric: return dtype != DType::boolean;
    case ScalarOperands::any: break;
  }
  return true;
}

std::span<const ScalarFunction* const> scalar_functions() { return table().list; }

Result<DType> scalar_result(const ScalarFunction& function, std::span<const DType> operands,
                            DType wanted) {
  if (operands.size() != function.arity)
    return Error{
        std::string{function.name},
        ErrorCode::arity_mismatch,
        "takes " + std::to_string(function.arity) + " operands, got " +
            std::to_string(operands.size()),
        {{"expected", std::to_string(function.arity)}, {"got", std::to_string(operands.size())}}};
  const std::size_t first = function.condition ? 1 : 0;
  if (function.condition && operands[0] != DType::u8 && operands[0] != DType::boolean)
    return mismatch(function, 0, "u8 or bool", operands[0]);
  for (std::size_t i = first; i < operands.size(); ++i) {
    if (!takes(function, operands[i]))
      return mismatch(function, i, to_string(function.takes), operands[i]);
    if (operands[i] != operands[first])
      return mismatch(function, i, stoker::to_string(operands[first]), operands[i]);
  }
  switch (function.result) {
    case ScalarResult::truth: return DType::u8;
    case ScalarResult::free:
      if (is_complex(wanted)) return mismatch(function, first, "a real target", wanted);
      return wanted;
    case ScalarResult::same: break;
  }
  return operands[first];
}

}  // namespace stoker
