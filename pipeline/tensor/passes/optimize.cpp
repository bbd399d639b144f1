#include "stoker/pipeline/tensor/passes/passes.hpp"

namespace stoker::expr {

void optimize(Program& program, bool with_channels_last) {
  inline_custom_gradients(program);
  simplify(program);
  fold_constants(program);
  if (with_channels_last) channels_last(program);
  // Folding makes constants that simplify further, as transpositions do that meet.
  simplify(program);
  share_equals(program);
  // The last: what a transposition can be folded into has taken it by now.
  copy_transposes(program);
}

}  // namespace stoker::expr
