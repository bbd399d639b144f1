// The suites of a family of kernels that differ in their operation.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "stoker/kernels/cases.hpp"
#include "stoker/kernels/reduce/operation.hpp"

namespace stoker::kernels::reduce {

/// What the family says of each operation.
struct FamilySuite {
  std::vector<KernelCase> (*cases)(Operation);
  std::vector<double> (*reference)(Operation, const KernelCall&, const TensorSpec& output,
                                   const std::vector<double>& input);
  ErrorBound (*bound)(Operation, const KernelCall&);
};

inline void add_suites(std::vector<KernelSuite>& suites, std::span<const OperationName> operations,
                       const FamilySuite& family) {
  for (const OperationName& entry : operations) {
    KernelSuite suite;
    suite.kernel = entry.kernel;
    suite.cases = family.cases(entry.operation);
    suite.reference = [family, operation = entry.operation](
                          const KernelCall& call, std::span<const TensorSpec> outputs,
                          const std::vector<std::vector<double>>& inputs) {
      return std::vector<std::vector<double>>{
          family.reference(operation, call, outputs[0], inputs[0])};
    };
    suite.bound = [family, operation = entry.operation](const KernelCall& call) {
      return family.bound(operation, call);
    };
    suites.push_back(std::move(suite));
  }
}

}  // namespace stoker::kernels::reduce
