// Several inputs as one: element by element, side by side, or one of several.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

/// Rows broadcast to each other as in NumPy; what comes out is folded from the left.
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
  visit("axis", o.axis, anything, "not 0, which is the batch");
}

/// [batch, …] flattened and put side by side: [batch, all features].
struct StackColumns {
  static constexpr const char* kind = "stack_columns";
  Extents ignore = {};
  std::string name = {};
};
template <class V> void visit_options(StackColumns& o, V&& visit) {
  visit("ignore", o.ignore, at_least(0), "inputs that are left out, counted from 0");
}

/// The first that is there.
struct OrElse {
  static constexpr const char* kind = "or_else";
  std::string name = {};
};
template <class V> void visit_options(OrElse&, V&&) {}

/// Condition, one, other. A condition of rank 1 is one for each row.
struct Cond {
  static constexpr const char* kind = "cond";
  std::string name = {};
};
template <class V> void visit_options(Cond&, V&&) {}

}  // namespace layers

[[nodiscard]] Node add(std::vector<Node> inputs, const layers::Add& options = {});
[[nodiscard]] inline Node operator+(const Node& a, const Node& b) { return add({a, b}); }
/// `options` without the axis.
[[nodiscard]] Node concatenate(std::vector<Node> inputs, std::int64_t axis = -1,
                               layers::Concatenate options = {});
/// `a` if it is there, else `b`, which is as large.
[[nodiscard]] Node or_else(const Node& a, const Node& b, const layers::OrElse& options = {});

}  // namespace stoker::nn
