// What passes share: going through a program once, replacing values as they are met.
//
// Of one pass, on one thread.
#pragma once

#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {

class Rewriter {
 public:
  explicit Rewriter(Program& program) : program_{&program}, replaced_(program.code.size()) {}

  /// Calls `step(index)` for each instruction, whose inputs have been replaced before. Then drops what
  /// nobody needs any more.
  template <class Step> void run(Step&& step) {
    for (std::uint32_t i = 0; i < program_->code.size(); ++i) {
      for (Ref& input : program_->code[i].inputs) input = now(input);
      step(i);
    }
    for (Ref& result : program_->results) result = now(result);
    program_->drop_dead();
  }
  /// From now on who reads the only output of `instruction` reads `other`, which comes before it.
  void replace(std::uint32_t instruction, Ref other) { replaced_[instruction] = other; }
  /// All outputs by those of another instruction.
  void replace_all(std::uint32_t instruction, std::uint32_t other) {
    replaced_[instruction] = Ref{other, every_output};
  }

 private:
  static constexpr std::uint32_t every_output = ~std::uint32_t{0};
  [[nodiscard]] Ref now(Ref ref) const {
    const auto& other = replaced_[ref.instruction];
    if (!other) return ref;
    return other->output == every_output ? Ref{other->instruction, ref.output} : *other;
  }

  Program* program_;
  std::vector<std::optional<Ref>> replaced_;
};

}  // namespace stoker::expr
