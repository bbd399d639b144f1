// Kernels as nodes of the tensors' graph. The kernel's own rules check each call, so that what is wrong reads
// the same wherever a kernel is called.
#include <algorithm>
#include <numeric>

#include "stoker/kernels/fill/value.hpp"
#include "stoker/pipeline/script/operations/operation.hpp"
#include "stoker/pipeline/tensor/graph/kernel_call.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::script {
namespace {

using expr::Value;
using Translation = std::function<Value(const OperationCall&, const TensorSpec& output)>;

Value divided(const OperationCall& call, const TensorSpec& output) {
  return expr::scalar(is_integer(output.dtype) ? "quotient" : "divide", {call.x(0), call.x(1)});
}

Value rectified(const OperationCall& call, const TensorSpec& output) {
  return expr::scalar("max", {call.x(), expr::constant(0, output.dtype)});
}

Value transposed(const OperationCall& call, const TensorSpec& output) {
  const auto rank = static_cast<std::int64_t>(output.shape.rank());
  std::vector<std::int64_t> axes = call.params.integers("axes");
  if (axes.empty()) {
    axes = expr::all_axes(output.shape.rank());
    std::ranges::reverse(axes);
  }
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  return expr::transpose(call.x(), axes);
}

/// One number that is repeated: which it is makes no other structure.
Value filled(const OperationCall& call, const TensorSpec& output) {
  const auto given = options::from<kernels::Fill>(call.params);
  const auto bytes = kernels::fill::pattern(given, output.dtype).value();
  const Value number = call.holding({output.dtype, {}},
                                    std::as_bytes(std::span{bytes}).first(size_of(output.dtype)));
  return expr::broadcast_to(number, output.shape);
}

/// What kernels of single elements and views are in the graph.
const std::map<std::string, Translation, std::less<>>& translations() {
  static constinit NeverDestroyed<std::map<std::string, Translation, std::less<>>> made;
  return made.get([] {
    std::map<std::string, Translation, std::less<>> by_kernel{{"elementwise_div", &divided},
                                                              {"relu", &rectified},
                                                              {"transpose", &transposed},
                                                              {"fill", &filled}};
    by_kernel["cast"] = [](const OperationCall& call, const TensorSpec& output) {
      return expr::cast(call.x(), output.dtype);
    };
    by_kernel["reshape"] = [](const OperationCall& call, const TensorSpec& output) {
      return expr::reshape(call.x(), output.shape);
    };
    // Scalar functions are themselves.
    for (const expr::Op* op : expr::op_table().list())
      if (op->kind == expr::OpKind::scalar && KernelRegistry::builtin().find(op->name))
        by_kernel.try_emplace(op->name, [op](const OperationCall& call, const TensorSpec&) {
          return expr::apply_one(*op, {call.inputs.begin(), call.inputs.end()});
        });
    return by_kernel;
  });
}

/// The operation that the kernel computes, or null.
const expr::Op* operation_by(const Kernel& kernel) {
  for (const expr::Op* op : expr::op_table().list())
    if (op->kind == expr::OpKind::kernel && op->computed_by == kernel.name) return op;
  return nullptr;
}

/// All parameters, as attributes are read: none is left to a default.
Params written(const ParamSet& set) {
  Params params;
  for (std::size_t i = 0; i < set.values().size(); ++i)
    params.set(set.schema()[i].name, set.values()[i]);
  return params;
}

std::vector<TensorSpec> checked(const Kernel& kernel, const OperationCall& call) {
  std::vector<TensorSpec> specs;
  for (const Value& input : call.inputs) specs.push_back(input.spec());
  return kernel.check(specs, call.params).value();
}

/// Kernels know no complex numbers. What these are in the graph does, and checks them itself.
bool is_complex_arithmetic(const Kernel& kernel, const OperationCall& call) {
  return kernel.family == "elementwise" && call.inputs.size() == kernel.inputs.min &&
         is_complex(call.x().dtype());
}

}  // namespace

Operation kernel_operation(std::string name, std::shared_ptr<const Kernel> kernel) {
  Operation made;
  made.name = std::move(name);
  made.params = kernel->params;
  made.inputs = kernel->inputs;
  // A program's own kernel may bear a built-in one's name, and is called as it is.
  const auto builtin = KernelRegistry::builtin().find(kernel->name);
  const bool is_builtin = builtin && *builtin == kernel;
  const auto known = translations().find(kernel->name);
  if (is_builtin && known != translations().end()) {
    made.apply = [kernel = std::move(kernel),
                  &translation = known->second](const OperationCall& call) {
      const TensorSpec output =
          is_complex_arithmetic(*kernel, call) ? call.x().spec() : checked(*kernel, call)[0];
      return std::vector{translation(call, output)};
    };
  } else if (const expr::Op* op = is_builtin ? operation_by(*kernel) : nullptr) {
    made.apply = [kernel = std::move(kernel), op](const OperationCall& call) {
      static_cast<void>(checked(*kernel, call));
      const expr::Values outputs = expr::apply(*op, {call.inputs.begin(), call.inputs.end()},
                                               expr::Attributes{written(call.params)});
      return std::vector<Value>(outputs.begin(), outputs.end());
    };
  } else {
    made.apply = [kernel = std::move(kernel)](const OperationCall& call) {
      return expr::call_kernel(kernel, written(call.params), call.inputs);
    };
  }
  return made;
}

}  // namespace stoker::script
