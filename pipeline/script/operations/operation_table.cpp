#include "stoker/pipeline/script/operations/operation.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::script {

OperationTable::OperationTable(std::span<const std::shared_ptr<const Kernel>> kernels) {
  for (const std::shared_ptr<const Kernel>& kernel : kernels) {
    Operation operation = kernel_operation(kernel->name, kernel);
    operation.aliases = kernel->aliases;
    add(std::move(operation));
  }
  for (Operation& operation : tensor_operations()) add(std::move(operation));
}

const Operation* OperationTable::find(std::string_view name) const noexcept {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

void OperationTable::add(Operation operation) {
  if (by_name_.contains(operation.name)) return;
  const Operation& added =
      *all_.emplace_back(std::make_unique<const Operation>(std::move(operation)));
  by_name_.try_emplace(added.name, &added);
  for (const std::string& alias : added.aliases) by_name_.try_emplace(alias, &added);
}

}  // namespace stoker::script
