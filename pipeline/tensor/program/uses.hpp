// Who reads what in a program, and what of it is a result: asked while kernels are chosen.
//
// Of one program that does not change meanwhile; any thread.
#pragma once

#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {

class Uses {
 public:
  explicit Uses(const Program& program)
      : readers_{program.readers()}, results_(program.code.size()) {
    for (const Ref result : program.results) results_[result.instruction] = true;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& readers(Ref ref) const {
    return readers_[ref.instruction];
  }
  [[nodiscard]] bool is_result(Ref ref) const { return results_[ref.instruction]; }
  [[nodiscard]] bool read_once(Ref ref) const {
    return readers(ref).size() == 1 && !is_result(ref);
  }

 private:
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<bool> results_;
};

}  // namespace stoker::expr
