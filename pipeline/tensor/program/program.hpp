// A piece of the lazy graph as a list of instructions in an order in which they can run: what the
// passes transform and lowering turns into kernels.
//
// A value of its caller's, used by one thread. Operations outlive it.
#pragma once

#include <string>
#include <vector>

#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::expr {

/// Output `output` of instruction `instruction`.
struct Ref {
  std::uint32_t instruction = 0;
  std::uint32_t output = 0;
  friend bool operator==(const Ref&, const Ref&) noexcept = default;
};

struct Instruction {
  const Op* op = nullptr;
  Attributes attributes;
  boost::container::small_vector<Ref, 3> inputs;
  Specs specs;
  std::shared_ptr<const Payload> payload = nullptr;
  /// Where it stood in what the program was taken out of (Extracted): passes keep it, whatever they make of
  /// the instruction.
  std::uint32_t origin = no_origin;
  static constexpr std::uint32_t no_origin = ~std::uint32_t{0};
};

struct Program {
  /// Each after those it reads.
  std::vector<Instruction> code;
  /// The instructions that stand for what a run is given, in the order in which it is given.
  std::vector<std::uint32_t> parameters;
  std::vector<Ref> results;

  [[nodiscard]] const TensorSpec& spec(Ref ref) const noexcept {
    return code[ref.instruction].specs[ref.output];
  }
  [[nodiscard]] boost::container::small_vector<TensorSpec, 4> input_specs(
      const Instruction& one) const;
  /// Who reads each instruction's outputs, results not counted; one entry for each reading operand.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> readers() const;
  /// Drops what no result needs. Parameters stay.
  void drop_dead();

  /// One line for each instruction: "%3 = add f32[2,3] %1 %2".
  [[nodiscard]] std::string to_text() const;
  /// For Graphviz.
  [[nodiscard]] std::string to_dot() const;
};

/// What one instruction does, to write keys from.
struct InstructionView {
  const Op& op;
  std::span<const Ref> inputs;
  std::span<const TensorSpec> specs;
  const Attributes& attributes;
  const Payload* payload;
};
[[nodiscard]] inline InstructionView view_of(const Instruction& one) noexcept {
  return {*one.op, one.inputs, one.specs, one.attributes, one.payload.get()};
}

/// Appends everything that says what the instruction does: equal keys, equal meaning. No key is the
/// beginning of another, so those of several stay apart behind their number.
void append_key(std::string& key, const InstructionView& one);
void append_key(std::string& key, Ref ref);
void append_key(std::string& key, std::size_t count);

}  // namespace stoker::expr
