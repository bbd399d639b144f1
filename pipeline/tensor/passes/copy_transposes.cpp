#include <algorithm>

#include "stoker/pipeline/tensor/passes/passes.hpp"

namespace stoker::expr {
namespace {

/// Fewer elements than this stay in the caches, where the order of reading matters little.
constexpr std::int64_t least_elements = 1 << 16;

/// Whether neighbours in the result are far apart in the input.
bool moves_last_axis(const Instruction& one) {
  const auto& axes = one.attributes.integers("axes");
  const Shape& shape = one.specs[0].shape;
  // The last axis along which there is something to walk.
  for (std::size_t axis = axes.size(); axis-- > 0;)
    if (shape[axis] > 1) {
      auto last = static_cast<std::int64_t>(axes.size()) - 1;
      // Axes of one element do not count on the input's side, either.
      for (std::size_t k = axes.size(); k-- > 0;) {
        const auto place = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(k));
        if (shape[static_cast<std::size_t>(place - axes.begin())] > 1) {
          last = static_cast<std::int64_t>(k);
          break;
        }
      }
      return axes[axis] != last;
    }
  return false;
}

}  // namespace

void copy_transposes(Program& program) {
  static constinit NamedOp transpose{"transpose"};
  static constinit NamedOp copied{"transpose_copy"};
  for (Instruction& one : program.code)
    if (one.op == &transpose.get() && one.specs[0].shape.elements() >= least_elements &&
        moves_last_axis(one))
      one.op = &copied.get();
}

}  // namespace stoker::expr
