// Programs for people: as text and for Graphviz.
#include <cstdio>

#include "stoker/pipeline/tensor/graph/function.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"
#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {
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

/// A constant's number; of others nothing.
std::string number_text(const Instruction& one) {
  if (one.op->kind != OpKind::constant) return {};
  const DType dtype = one.specs[0].dtype;
  const std::int64_t bits = one.attributes.integer("bits");
  if (!is_float(dtype) && size_of(dtype) == 8)
    return is_signed(dtype) ? std::to_string(bits)
                            : std::to_string(static_cast<std::uint64_t>(bits));
  char text[32];
  std::snprintf(text, sizeof text, dtype == DType::f64 ? "%.17g" : "%.9g",
                constant_number(one.attributes, dtype));
  return text;
}

void write(std::string& text, const Program& program, const std::string& indent) {
  for (std::uint32_t i = 0; i < program.code.size(); ++i) {
    const Instruction& one = program.code[i];
    text += indent + "%" + std::to_string(i) + " = " + one.op->name + " " + specs_text(one);
    for (const Ref input : one.inputs)
      text += " " + name_of(input, program.code[input.instruction]);
    if (const std::string number = number_text(one); !number.empty())
      text += " " + number;
    else if (const std::string told = one.attributes.to_string(); !told.empty())
      text += " {" + told + "}";
    text += "\n";
    const auto* payload = dynamic_cast<const FunctionPayload*>(one.payload.get());
    if (!payload) continue;
    for (std::size_t f = 0; f < payload->functions().size(); ++f) {
      text += indent + "  function " + std::to_string(f) + ":\n";
      write(text, extract(payload->functions()[f].results).program(), indent + "    ");
    }
  }
  text += indent + "return";
  for (const Ref result : program.results)
    text += " " + name_of(result, program.code[result.instruction]);
  text += "\n";
}

}  // namespace

std::string Program::to_text() const {
  std::string text;
  write(text, *this, "");
  return text;
}

std::string Program::to_dot() const {
  std::string text = "digraph program {\n  node [shape=box, fontname=\"monospace\"];\n";
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const std::string number = number_text(code[i]);
    text += "  n" + std::to_string(i) + " [label=\"" +
            (number.empty() ? code[i].op->name : number) + "\\n" + specs_text(code[i]) + "\"];\n";
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
