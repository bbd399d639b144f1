// A piece of the lazy graph as a list of instructions in an order in which they can run: what the
// passes transform and lowering turns into kernels.
//
// A value of its caller's, used by one thread. Operations outlive it.
#pragma once

#include <string>
#include <vector>

#include "stoker/pipeline/tensor/op.hpp"

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

/// A program with the leaves that it stands on: what is known or a parameter.
struct Extracted {
  Program program;
  std::vector<Value> leaves;     ///< one for each of program.parameters
  std::vector<Buffers> buffers;  ///< what each holds; of a placeholder nothing
};

/// What computes `results` from what is known, and from the parameters. Known values are not computed
/// anew.
[[nodiscard]] Extracted extract(std::span<const Value> results);

/// Everything that says what a program does, to compare programs by: equal keys, equal programs.
[[nodiscard]] std::string key_of(const Program& program);
/// The part of one instruction.
void append_key(std::string& key, const Instruction& one);

}  // namespace stoker::expr
