#include "stoker/pipeline/tensor/fusion/fused_builder.hpp"

namespace stoker::expr {

void FusedBuilder::read(Ref ref) {
  if (places_.contains(key(ref))) return;
  const Access access = stretched(access_of(program_, ref), program_.spec(ref).shape, fused_.shape);
  for (std::size_t i = 0; i < reads_.size(); ++i)
    if (reads_[i] == access) {
      places_[key(ref)] = i;
      return;
    }
  reads_.push_back(access);
  places_[key(ref)] = reads_.size() - 1;
}

void FusedBuilder::begin_code() {
  for (std::size_t i = 0; i < reads_.size(); ++i)
    if (reads_[i].source != Access::Source::constant) add_input(i);
  for (std::size_t i = 0; i < reads_.size(); ++i)
    if (reads_[i].source == Access::Source::constant) add_constant(i);
}

Result<void> FusedBuilder::compute(std::uint32_t member) {
  const Instruction& one = program_.code[member];
  FusedProgram::Instruction code;
  STOKER_ASSIGN(code.function, find_scalar_function(one.op->name));
  code.result = one.specs[0].dtype;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) code.operands[i] = value_of(one.inputs[i]);
  computed_[member] = next_value();
  fused_.code.push_back(code);
  return {};
}

void FusedBuilder::add_input(std::size_t read) {
  const Access& access = reads_[read];
  FusedProgram::Input input;
  input.spec = program_.spec(access.base);
  input.offset = access.offset;
  input.strides = access.strides;
  input.index = access.source == Access::Source::index;
  if (!input.index) buffers_.push_back(access.base);
  values_[read] = static_cast<FusedProgram::Value>(fused_.inputs.size());
  fused_.inputs.push_back(input);
}

void FusedBuilder::add_constant(std::size_t read) {
  const Instruction& leaf = program_.code[reads_[read].base.instruction];
  values_[read] = static_cast<FusedProgram::Value>(fused_.inputs.size() + fused_.constants.size());
  fused_.constants.push_back(
      {leaf.specs[0].dtype, static_cast<std::uint64_t>(leaf.attributes.integer("bits"))});
}

FusedProgram::Value FusedBuilder::next_value() const {
  return static_cast<FusedProgram::Value>(fused_.inputs.size() + fused_.constants.size() +
                                          fused_.code.size());
}

FusedProgram::Value FusedBuilder::value_of(Ref ref) const {
  const auto computed = computed_.find(ref.instruction);
  return computed != computed_.end() ? computed->second : values_.at(places_.at(key(ref)));
}

}  // namespace stoker::expr
