// The kernels of a plan, and the nodes of the model that each computes.
//
// Plain values; immutable once they are shared. Lifetime: the nodes must outlive them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/pipeline/onnx/graph/node.hpp"

namespace stoker {
namespace expr {
class Extracted;
struct LoweredProgram;
}  // namespace expr

namespace onnx {

class NodeMarks;

struct PlannedKernel {
  std::string name;
  std::vector<const Node*> nodes;  ///< that it computes
};
/// The kernels of each step of a program, in the order in which they run; none for a step that the host drives.
using PlannedKernels = std::vector<std::vector<PlannedKernel>>;

/// Those of a program that was compiled of what was made under these marks.
[[nodiscard]] std::shared_ptr<const PlannedKernels> planned_kernels(
    const NodeMarks& marks, const expr::Extracted& extracted, const expr::LoweredProgram& program);

}  // namespace onnx
}  // namespace stoker
