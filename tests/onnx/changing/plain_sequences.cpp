#include "stoker/tests/onnx/changing/plain_operators.hpp"

namespace stoker::onnx {
namespace {

using Int = std::int64_t;

PlainArray plain_sequence(std::vector<PlainArray> elements) {
  return {ElementType::undefined, {}, {}, std::move(elements)};
}

/// Of an element, or behind the last one.
Int plain_position(const PlainArray& position, const PlainArray& sequence) {
  const auto count = static_cast<Int>(sequence.elements.size());
  const Int at = position.data.at(0);
  return at < 0 ? at + count : at;
}

PlainArrays plain_insert(const Node&, const PlainArrays& x) {
  PlainArray made = x.at(0);
  made.elements.insert(made.elements.begin() + plain_position(x.at(2), made), x.at(1));
  return {made};
}

PlainArrays plain_erase(const Node&, const PlainArrays& x) {
  PlainArray made = x.at(0);
  made.elements.erase(made.elements.begin() + plain_position(x.at(1), made));
  return {made};
}

PlainArrays plain_element(const Node&, const PlainArrays& x) {
  return {x.at(0).elements.at(static_cast<std::size_t>(plain_position(x.at(1), x[0])))};
}

}  // namespace

void add_sequences(PlainRules& rules) {
  rules["SequenceConstruct"] = [](const Node&, const PlainArrays& x) {
    return PlainArrays{plain_sequence(x)};
  };
  rules["SequenceInsert"] = &plain_insert;
  rules["SequenceErase"] = &plain_erase;
  rules["SequenceAt"] = &plain_element;
  rules["SequenceLength"] = [](const Node&, const PlainArrays& x) {
    return PlainArrays{plain_scalar(static_cast<Int>(x.at(0).elements.size()))};
  };
  rules["ConcatFromSequence"] = [concat = rules.at("Concat")](const Node& node,
                                                              const PlainArrays& x) {
    return concat(node, x.at(0).elements);
  };
}

}  // namespace stoker::onnx
