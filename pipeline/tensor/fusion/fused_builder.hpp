// One fused kernel in the making: what it reads, each once, and what it computes.
//
// Of one lowering, on one thread; the program outlives it.
#pragma once

#include <map>
#include <vector>

#include "stoker/kernels/fused/program.hpp"
#include "stoker/pipeline/tensor/fusion/access.hpp"

namespace stoker::expr {

class FusedBuilder {
 public:
  FusedBuilder(const Program& program, const Shape& shape) : program_{program} {
    fused_.shape = shape;
  }

  /// A value that is read at each element of the shape, to which it broadcasts.
  void read(Ref ref);
  /// After all that is read is known.
  void begin_code();
  Result<void> compute(std::uint32_t member);
  void output(Ref ref) { fused_.outputs.push_back(value_of(ref)); }

  [[nodiscard]] FusedProgram take() { return std::move(fused_); }
  /// The values whose memory the kernel binds, in the order of its inputs.
  [[nodiscard]] const std::vector<Ref>& buffers() const noexcept { return buffers_; }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static Key key(Ref ref) { return {ref.instruction, ref.output}; }

  void add_input(std::size_t read);
  void add_constant(std::size_t read);
  [[nodiscard]] FusedProgram::Value next_value() const;
  [[nodiscard]] FusedProgram::Value value_of(Ref ref) const;

  const Program& program_;
  FusedProgram fused_;
  std::vector<Access> reads_;
  std::map<Key, std::size_t> places_;  // of what is read: its place in reads_
  std::map<std::size_t, FusedProgram::Value> values_;
  std::map<std::uint32_t, FusedProgram::Value> computed_;
  std::vector<Ref> buffers_;
};

}  // namespace stoker::expr
