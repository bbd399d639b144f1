// Casts that change nothing: to the type that is there, and there and back through a type that holds every value.
#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::cast_pairs {
namespace {

/// Integers from -2^low (0: from 0) up to 2^high, all of which the type has; a float has others besides, with
/// so many bits of precision and exponent.
struct Range {
  int low = 0, high = 0;
  int precision = 0, exponent = 0;
};

std::optional<Range> range_of(ElementType type) {
  switch (type) {
    case ElementType::boolean: return Range{.high = 1};
    case ElementType::u8: return Range{.high = 8};
    case ElementType::u16: return Range{.high = 16};
    case ElementType::u32: return Range{.high = 32};
    case ElementType::u64: return Range{.high = 64};
    case ElementType::s8: return Range{.low = 7, .high = 7};
    case ElementType::s16: return Range{.low = 15, .high = 15};
    case ElementType::s32: return Range{.low = 31, .high = 31};
    case ElementType::s64: return Range{.low = 63, .high = 63};
    case ElementType::f16: return Range{.low = 11, .high = 11, .precision = 11, .exponent = 5};
    case ElementType::bf16: return Range{.low = 8, .high = 8, .precision = 8, .exponent = 8};
    case ElementType::f32: return Range{.low = 24, .high = 24, .precision = 24, .exponent = 8};
    case ElementType::f64: return Range{.low = 53, .high = 53, .precision = 53, .exponent = 11};
    default: return {};
  }
}

/// Whether `wide` has every value of `narrow`. What is cast to boolean is another value, or was one.
bool holds(ElementType wide, ElementType narrow) {
  const auto w = range_of(wide);
  const auto n = range_of(narrow);
  if (!w || !n || wide == ElementType::boolean) return false;
  return w->low >= n->low && w->high >= n->high && w->precision >= n->precision &&
         w->exponent >= n->exponent;
}

/// Whether `from`, cast to `to`, gives what it gives by way of `wide`, which has every value of it.
bool may_skip(ElementType from, ElementType wide, ElementType to) {
  if (!holds(wide, from) || to == ElementType::string) return false;  // texts show the type
  const auto f = range_of(from);
  const auto t = range_of(to);
  // Floats end at the ends of an integer, integers wrap.
  const bool turns_float = range_of(wide)->precision > 0 && f->precision == 0;
  return !turns_float || to == ElementType::boolean || (t && t->precision > 0) || holds(to, from);
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (!is(node, "Cast") || !node.has_input(0) || !node.has_output(0)) return;
    const ElementType to = node.element_type("to", ElementType::undefined);
    if (to == ElementType::undefined) return;
    if (Node* const inner = graph.writer(node.inputs[0], "Cast");
        inner != nullptr && inner->has_input(0) &&
        may_skip(graph.type_of(inner->inputs[0]), inner->element_type("to", ElementType::undefined),
                 to))
      graph.set_input(node, 0, std::string{inner->inputs[0]});
    if (graph.type_of(node.inputs[0]) == to) graph.forward(node, node.inputs[0]);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "cast_pairs",
             .summary = "a Cast to the type that its operand already has is removed, and so is a "
                        "Cast to a wider type before another Cast",
             .run = &run});
}

}  // namespace stoker::onnx::passes::cast_pairs
