#include "stoker/pipeline/tensor/program.hpp"

#include <bit>
#include <unordered_map>

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

/// Where nodes stand in a program. Most programs that are not traced have a few only.
class Places {
 public:
  [[nodiscard]] const std::uint32_t* find(const Node* node) const {
    if (many_.empty()) {
      for (const auto& [known, place] : few_)
        if (known == node) return &place;
      return nullptr;
    }
    const auto known = many_.find(node);
    return known == many_.end() ? nullptr : &known->second;
  }
  void add(const Node* node, std::uint32_t place) {
    if (many_.empty() && few_.size() < 24) {
      few_.emplace_back(node, place);
      return;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    many_.emplace(node, place);
  }

 private:
  boost::container::small_vector<std::pair<const Node*, std::uint32_t>, 24> few_;
  std::unordered_map<const Node*, std::uint32_t> many_;
};

}  // namespace

Extracted extract(std::span<const Value> results) {
  Extracted made;
  Places place;
  struct Visit {
    std::shared_ptr<Node> node;
    Values inputs;
    std::size_t next = 0;
  };
  // By hand, because a chain may be longer than the stack is deep.
  boost::container::small_vector<Visit, 4> path;
  const auto enter = [&](const std::shared_ptr<Node>& node) {
    if (place.find(node.get())) return;
    Node::State state = node->state();
    if (state.buffers.empty() && node->op().kind != OpKind::parameter) {
      path.push_back({node, std::move(state.inputs), 0});
      return;
    }
    static const Op& parameter = find_op("parameter");
    const auto at = static_cast<std::uint32_t>(made.program.code.size());
    place.add(node.get(), at);
    made.program.code.push_back(
        {&parameter, {}, {}, Specs(node->specs().begin(), node->specs().end()), nullptr});
    made.program.parameters.push_back(at);
    made.leaves.emplace_back(node);
    made.buffers.push_back(std::move(state.buffers));
  };
  const auto visit = [&](const Value& root) {
    enter(root.node());
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next < top.inputs.size()) {
        const auto input = top.inputs[top.next++].node();
        enter(input);
        continue;
      }
      Visit done = std::move(path.back());
      path.pop_back();
      if (place.find(done.node.get())) continue;
      Instruction one;
      one.op = &done.node->op();
      one.attributes = done.node->attributes();
      one.payload = done.node->payload();
      one.specs.assign(done.node->specs().begin(), done.node->specs().end());
      for (const Value& input : done.inputs)
        one.inputs.push_back({*place.find(input.node().get()), input.output()});
      place.add(done.node.get(), static_cast<std::uint32_t>(made.program.code.size()));
      made.program.code.push_back(std::move(one));
    }
  };
  for (const Value& result : results) {
    visit(result);
    made.program.results.push_back({*place.find(result.node().get()), result.output()});
  }
  return made;
}

namespace {

class KeyWriter {
 public:
  explicit KeyWriter(std::string& key) : key_{&key} {}
  void number(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7) key_->push_back(static_cast<char>(0x80 | (value & 0x7f)));
    key_->push_back(static_cast<char>(value));
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
  void value(double real) { number(std::bit_cast<std::uint64_t>(real)); }
  void value(std::int64_t integer) { number(static_cast<std::uint64_t>(integer)); }
  void value(bool flag) { number(flag ? 1 : 0); }

 private:
  std::string* key_;
};

}  // namespace

void append_key(std::string& key, const Instruction& one) {
  KeyWriter writer{key};
  writer.number(reinterpret_cast<std::uintptr_t>(one.op));
  writer.number(one.inputs.size());
  for (const Ref input : one.inputs) {
    writer.number(input.instruction);
    writer.number(input.output);
  }
  // The outputs follow from the inputs and the attributes, but for a parameter's.
  if (one.op->kind == OpKind::parameter) {
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
  if (one.payload) writer.text(one.payload->key());
}

std::string key_of(const Program& program) {
  std::string key;
  key.reserve(64 * program.code.size());
  for (const Instruction& one : program.code) append_key(key, one);
  KeyWriter writer{key};
  for (const Ref result : program.results) {
    writer.number(result.instruction);
    writer.number(result.output);
  }
  return key;
}

// --- for people ----------------------------------------------------------------------------------

namespace {

std::string name_of(Ref ref, const Instruction& one) {
  std::string text = "%" + std::to_string(ref.instruction);
  return one.specs.size() > 1 ? text + "." + std::to_string(ref.output) : text;
}

std::string specs_text(const Instruction& one) {
  std::string text;
  for (const TensorSpec& spec : one.specs) text += (text.empty() ? "" : ", ") + spec.to_string();
  return text;
}

}  // namespace

std::string Program::to_text() const {
  std::string text;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const Instruction& one = code[i];
    text += "%" + std::to_string(i) + " = " + one.op->name + " " + specs_text(one);
    for (const Ref input : one.inputs) text += " " + name_of(input, code[input.instruction]);
    if (const std::string told = one.attributes.to_string(); !told.empty())
      text += " {" + told + "}";
    text += "\n";
  }
  text += "return";
  for (const Ref result : results) text += " " + name_of(result, code[result.instruction]);
  return text + "\n";
}

std::string Program::to_dot() const {
  std::string text = "digraph program {\n  node [shape=box, fontname=\"monospace\"];\n";
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    text += "  n" + std::to_string(i) + " [label=\"" + code[i].op->name + "\\n" +
            specs_text(code[i]) + "\"];\n";
    for (const Ref input : code[i].inputs)
      text += "  n" + std::to_string(input.instruction) + " -> n" + std::to_string(i) + ";\n";
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    text += "  r" + std::to_string(i) + " [label=\"result " + std::to_string(i) +
            "\", shape=oval];\n  n" + std::to_string(results[i].instruction) + " -> r" +
            std::to_string(i) + ";\n";
  return text + "}\n";
}

}  // namespace stoker::expr
