// Joins several inputs into one: element by element, by concatenation, or by choosing one.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

/// Left fold of the inputs; rows broadcast as in NumPy.
template <KindName Kind> struct FoldOf {
  static constexpr const char* kind = Kind.text;
  std::string name = {};
};
template <KindName Kind, class V> void visit_options(FoldOf<Kind>&, V&&) {}
using Add = FoldOf<"add">;
using Subtract = FoldOf<"subtract">;
using Multiply = FoldOf<"multiply">;

struct Concatenate {
  static constexpr const char* kind = "concatenate";
  std::int64_t axis = -1;
  std::string name = {};
};
template <class V> void visit_options(Concatenate& o, V&& visit) {
  visit("axis", o.axis, anything, "the axis; 0 is the batch and not allowed");
}

/// Flattens each input's rows and concatenates them: [batch, all features].
struct StackColumns {
  static constexpr const char* kind = "stack_columns";
  Extents ignore = {};
  std::string name = {};
};
template <class V> void visit_options(StackColumns& o, V&& visit) {
  visit("ignore", o.ignore, at_least(0), "positions of inputs to leave out, counted from 0");
}

/// The first input that is not missing.
struct OrElse {
  static constexpr const char* kind = "or_else";
  std::string name = {};
};
template <class V> void visit_options(OrElse&, V&&) {}

/// Inputs: condition, value if true, value if false. A condition of rank 1 selects row by row.
struct Cond {
  static constexpr const char* kind = "cond";
  std::string name = {};
};
template <class V> void visit_options(Cond&, V&&) {}

}  // namespace layers

[[nodiscard]] Node add(std::vector<Node> inputs, const layers::Add& options = {});
[[nodiscard]] inline Node operator+(const Node& a, const Node& b) { return add({a, b}); }
/// Pass `axis` here, not in `options`.
[[nodiscard]] Node concatenate(std::vector<Node> inputs, std::int64_t axis = -1,
                               layers::Concatenate options = {});
/// `a` if it is not missing, else `b`, which must have the same shape and dtype.
[[nodiscard]] Node or_else(const Node& a, const Node& b, const layers::OrElse& options = {});

}  // namespace stoker::nn
