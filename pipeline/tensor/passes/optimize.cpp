#include "stoker/pipeline/tensor/passes/passes.hpp"

namespace stoker::expr {

void optimize(Program& program) {
  program.drop_dead();
  simplify(program);
  fold_constants(program);
  // Folding makes constants that simplify further.
  simplify(program);
  share_equals(program);
}

}  // namespace stoker::expr
