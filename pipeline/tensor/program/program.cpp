#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {

boost::container::small_vector<TensorSpec, 4> Program::input_specs(const Instruction& one) const {
  boost::container::small_vector<TensorSpec, 4> specs;
  for (const Ref input : one.inputs) specs.push_back(spec(input));
  return specs;
}

std::vector<std::vector<std::uint32_t>> Program::readers() const {
  std::vector<std::vector<std::uint32_t>> readers(code.size());
  for (std::uint32_t i = 0; i < code.size(); ++i)
    for (const Ref input : code[i].inputs) readers[input.instruction].push_back(i);
  return readers;
}

void Program::drop_dead() {
  std::vector<bool> needed(code.size());
  for (const Ref result : results) needed[result.instruction] = true;
  for (const std::uint32_t parameter : parameters) needed[parameter] = true;
  for (std::size_t i = code.size(); i-- > 0;)
    if (needed[i])
      for (const Ref input : code[i].inputs) needed[input.instruction] = true;
  std::vector<std::uint32_t> moved(code.size());
  std::vector<Instruction> kept;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = static_cast<std::uint32_t>(kept.size());
    for (Ref& input : code[i].inputs) input.instruction = moved[input.instruction];
    kept.push_back(std::move(code[i]));
  }
  code = std::move(kept);
  for (std::uint32_t& parameter : parameters) parameter = moved[parameter];
  for (Ref& result : results) result.instruction = moved[result.instruction];
}

namespace {

class KeyWriter {
 public:
  explicit KeyWriter(std::string& key) : key_{&key} {}
  void number(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7) key_->push_back(static_cast<char>(0x80 | (value & 0x7f)));
    key_->push_back(static_cast<char>(value));
  }
  template <class T> void bits(const T& value) {
    key_->append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    key_->append(value);
  }
  void spec(const TensorSpec& spec) {
    number(static_cast<std::uint64_t>(spec.dtype));
    number(spec.shape.rank());
    for (const std::int64_t extent : spec.shape) number(static_cast<std::uint64_t>(extent));
  }
  void value(const std::string& text_value) { text(text_value); }
  void value(const std::vector<std::int64_t>& list) {
    number(list.size());
    for (const std::int64_t element : list) number(static_cast<std::uint64_t>(element));
  }
  void value(double real) { bits(real); }
  void value(std::int64_t integer) { number(static_cast<std::uint64_t>(integer)); }
  void value(bool flag) { number(flag ? 1 : 0); }

 private:
  std::string* key_;
};

}  // namespace

void append_key(std::string& key, Ref ref) {
  KeyWriter writer{key};
  writer.number(ref.instruction);
  writer.number(ref.output);
}

void append_key(std::string& key, const InstructionView& one) {
  KeyWriter writer{key};
  writer.bits(&one.op);
  writer.number(one.inputs.size());
  for (const Ref input : one.inputs) append_key(key, input);
  // The outputs follow from the inputs and the attributes, but for a parameter's.
  if (one.op.kind == OpKind::parameter) {
    writer.number(one.specs.size());
    for (const TensorSpec& spec : one.specs) writer.spec(spec);
    return;
  }
  const auto entries = one.attributes.params().entries();
  writer.number(entries.size());
  for (const Params::Entry& entry : entries) {
    writer.text(entry.name);
    writer.number(entry.value.index());
    std::visit([&](const auto& value) { writer.value(value); }, entry.value);
  }
  writer.number(one.payload ? 1 : 0);
  if (one.payload) writer.text(one.payload->key());
}

void append_key(std::string& key, std::size_t count) { KeyWriter{key}.number(count); }

}  // namespace stoker::expr
