// What scripts may call on buffers: every kernel of their host and every operation on tensors, by name, as
// nodes of the tensors' graph. Kernels keep their names, parameters and errors; those that an operation
// computes become that operation, so that they fuse with their neighbours.
//
// Here are no kernels' or operations' definitions: those stand in kernels/ and pipeline/tensor/ops.
//
// Threads: immutable once made; any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/kernel.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::script {

/// One call. The parameters are complete; nothing else has been checked.
struct OperationCall {
  std::span<const expr::Value> inputs;
  const ParamSet& params;
  /// A value of these bytes, which is data and no part of the structure. Throws what the budget or the
  /// device refuses.
  const std::function<expr::Value(const TensorSpec&, std::span<const std::byte>)>& holding;

  [[nodiscard]] const expr::Value& x(std::size_t i = 0) const noexcept { return inputs[i]; }
};

struct Operation {
  std::string name;
  std::vector<std::string> aliases = {};
  std::vector<ParamSpec> params = {};
  Arity inputs = {};
  /// Inputs before this one have a dtype of their own: numbers among the others do not take it.
  std::size_t conditions = 0;
  /// The nodes of its outputs. Throws what the rules of the kernel or the operation say.
  std::function<std::vector<expr::Value>(const OperationCall&)> apply;
};

class OperationTable {
 public:
  /// Of the kernels of a host.
  explicit OperationTable(std::span<const std::shared_ptr<const Kernel>> kernels);
  OperationTable(const OperationTable&) = delete;
  OperationTable& operator=(const OperationTable&) = delete;

  /// By name or alias; null if there is none.
  [[nodiscard]] const Operation* find(std::string_view name) const noexcept;
  /// Names and aliases.
  [[nodiscard]] const std::map<std::string, const Operation*, std::less<>>& names() const noexcept {
    return by_name_;
  }

 private:
  /// Names that are taken stay as they are.
  void add(Operation operation);

  std::vector<std::unique_ptr<const Operation>> all_;
  std::map<std::string, const Operation*, std::less<>> by_name_;
};

/// A kernel as an operation, under `name`.
[[nodiscard]] Operation kernel_operation(std::string name, std::shared_ptr<const Kernel> kernel);
/// The tensors' operations that are no kernels, and some that are made of several.
[[nodiscard]] std::vector<Operation> tensor_operations();

}  // namespace stoker::script
