#include "stoker/pipeline/tensor/passes/passes.hpp"

namespace stoker::expr {

void inline_custom_gradients(Program& program) {
  static constinit NamedOp custom{"custom_gradient"};
  const auto inlined = [&](Ref ref) {
    const Instruction& one = program.code[ref.instruction];
    if (one.op != &custom.get()) return ref;
    // Its own inputs come before it and have been replaced already.
    return one.inputs[static_cast<std::size_t>(one.attributes.integer("inputs")) + ref.output];
  };
  for (Instruction& one : program.code)
    for (Ref& input : one.inputs) input = inlined(input);
  for (Ref& result : program.results) result = inlined(result);
  program.drop_dead();
}

}  // namespace stoker::expr
