#include <algorithm>
#include <functional>
#include <map>

#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/passes/passes.hpp"
#include "stoker/pipeline/tensor/passes/rewriter.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::expr {
namespace {

/// What the rules look at: one instruction among the others.
struct Site {
  Program& program;
  std::uint32_t index;
  [[nodiscard]] Instruction& one() const { return program.code[index]; }
  [[nodiscard]] const Instruction& input(std::size_t i = 0) const {
    return program.code[one().inputs[i].instruction];
  }
  [[nodiscard]] bool keeps_spec(std::size_t i = 0) const {
    return program.spec(one().inputs[i]) == one().specs[0];
  }
  [[nodiscard]] bool is_constant(std::size_t i, double number) const {
    const Instruction& other = input(i);
    return other.op->kind == OpKind::constant &&
           constant_number(other.attributes, other.specs[0].dtype) == number;
  }
};

/// The value to take instead, if the rule applies. It may also change the instruction.
using Rule = std::function<std::optional<Ref>(const Site&)>;

/// A neutral right operand, and where `either` a left one. x + 0.0 turns -0 into 0, so sums of floats
/// stay.
Rule neutral(double number, bool either, bool floats) {
  return [=](const Site& site) -> std::optional<Ref> {
    if (!floats && is_float(site.one().specs[0].dtype)) return std::nullopt;
    if (site.is_constant(1, number) && site.keeps_spec(0)) return site.one().inputs[0];
    if (either && site.is_constant(0, number) && site.keeps_spec(1)) return site.one().inputs[1];
    return std::nullopt;
  };
}

/// A function that is its own inverse.
std::optional<Ref> twice(const Site& site) {
  if (site.input().op != site.one().op) return std::nullopt;
  return site.input().inputs[0];
}

std::optional<Ref> unchanged(const Site& site) {
  if (site.keeps_spec()) return site.one().inputs[0];
  return std::nullopt;
}

/// A shape given twice is the second.
std::optional<Ref> of_reshape(const Site& site) {
  if (const auto same = unchanged(site)) return same;
  if (site.input().op == site.one().op) site.one().inputs[0] = site.input().inputs[0];
  return unchanged(site);
}

std::optional<Ref> of_transpose(const Site& site) {
  const Instruction& inner = site.input();
  if (inner.op != site.one().op) return std::nullopt;
  const auto& outer_axes = site.one().attributes.integers("axes");
  const auto& inner_axes = inner.attributes.integers("axes");
  std::vector<std::int64_t> axes;
  bool same = true;
  for (std::size_t i = 0; i < outer_axes.size(); ++i) {
    axes.push_back(inner_axes[static_cast<std::size_t>(outer_axes[i])]);
    same &= axes[i] == static_cast<std::int64_t>(i);
  }
  if (same) return inner.inputs[0];
  site.one().inputs[0] = Ref{inner.inputs[0]};
  site.one().attributes = Attributes{{"axes", axes}};
  return std::nullopt;
}

/// Exactly one of the joined pieces is that piece: the parts of a complex number that was just made.
std::optional<Ref> of_slice(const Site& site) {
  const Instruction& joined = site.input();
  if (site.keeps_spec()) return site.one().inputs[0];
  if (joined.op->name != "concatenate") return std::nullopt;
  const auto& starts = site.one().attributes.integers("starts");
  const Shape& whole = joined.specs[0].shape;
  const std::int64_t given = joined.attributes.integer("axis");
  const auto axis =
      static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(whole.rank()) : given);
  for (std::size_t other = 0; other < whole.rank(); ++other)
    if (other != axis && site.one().specs[0].shape[other] != whole[other]) return std::nullopt;
  std::int64_t start = 0;
  for (const Ref piece : joined.inputs) {
    const std::int64_t length = site.program.spec(piece).shape[axis];
    if (start == starts[axis] && site.program.spec(piece) == site.one().specs[0] &&
        site.one().attributes.integers("lengths")[axis] == length)
      return piece;
    start += length;
  }
  return std::nullopt;
}

/// Another view of the same memory undoes it.
template <bool ToComplex> std::optional<Ref> of_parts(const Site& site) {
  if (site.input().op->name != (ToComplex ? "view_as_real" : "view_as_complex"))
    return std::nullopt;
  return site.input().inputs[0];
}

/// A product with a transposed matrix is told so instead.
std::optional<Ref> of_matmul(const Site& site) {
  for (std::size_t side = 0; side < 2; ++side) {
    const Instruction& operand = site.input(side);
    if (operand.op->name != "transpose") continue;
    const auto& axes = operand.attributes.integers("axes");
    const std::size_t rank = axes.size();
    bool last_two = rank >= 2;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t from = i + 2 < rank ? i : 2 * rank - 3 - i;
      last_two &= axes[i] == static_cast<std::int64_t>(from);
    }
    if (!last_two) continue;
    const Attributes& told = site.one().attributes;
    const bool a = told.flag("transpose_a") != (side == 0);
    const bool b = told.flag("transpose_b") != (side == 1);
    site.one().inputs[side] = Ref{operand.inputs[0]};
    site.one().attributes = Attributes{{"transpose_a", a}, {"transpose_b", b}};
  }
  return std::nullopt;
}

/// A square is a product, which costs a fraction of a general power.
std::optional<Ref> of_pow(const Site& site) {
  if (!site.keeps_spec(0)) return std::nullopt;
  if (site.is_constant(1, 1)) return site.one().inputs[0];
  if (!site.is_constant(1, 2)) return std::nullopt;
  static constinit NamedOp multiply{"multiply"};
  site.one().op = &multiply.get();
  site.one().inputs[1] = Ref{site.one().inputs[0]};
  return std::nullopt;
}

/// relu() as it is written for its gradient, x > 0 ? x : (x is NaN ? x : 0), is the larger of x and 0: one function of
/// each element instead of four.
std::optional<Ref> of_select(const Site& site) {
  const Instruction &condition = site.input(0), &otherwise = site.input(2);
  const Ref x = site.one().inputs[1];
  const auto is_zero = [&](Ref ref) {
    const Instruction& other = site.program.code[ref.instruction];
    return other.op->kind == OpKind::constant &&
           constant_number(other.attributes, other.specs[0].dtype) == 0;
  };
  if (condition.op->name != "greater" || condition.inputs[0] != x || !is_zero(condition.inputs[1]))
    return std::nullopt;
  if (otherwise.op != site.one().op || otherwise.inputs[1] != x || !is_zero(otherwise.inputs[2]))
    return std::nullopt;
  const Instruction& question = site.program.code[otherwise.inputs[0].instruction];
  if (question.op->name != "is_nan" || question.inputs[0] != x || !site.keeps_spec(1))
    return std::nullopt;
  static constinit NamedOp max{"max"};
  const Ref zero = otherwise.inputs[2];
  site.one().inputs = {x, zero};
  site.one().op = &max.get();
  return std::nullopt;
}

/// Reducing what is transposed is reducing other axes, as long as those that are left keep their order.
std::optional<Ref> of_reduction(const Site& site) {
  const Instruction& inner = site.input();
  if (inner.op->name != "transpose") return std::nullopt;
  const auto& order = inner.attributes.integers("axes");
  const auto& axes = site.one().attributes.integers("axes");
  const bool keeps = site.one().attributes.flag("keepdims");
  if (axes.empty() || *std::ranges::min_element(axes) < 0) return std::nullopt;
  std::vector<std::int64_t> reduced;
  for (const std::int64_t axis : axes) reduced.push_back(order[static_cast<std::size_t>(axis)]);
  std::int64_t last = -1;
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    const bool goes = std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
    if (goes && !keeps) continue;
    if (order[axis] < last) return std::nullopt;
    last = order[axis];
  }
  std::ranges::sort(reduced);
  site.one().inputs[0] = Ref{inner.inputs[0]};
  site.one().attributes = Attributes{{"axes", reduced}, {"keepdims", keeps}};
  return std::nullopt;
}

const std::map<std::string, Rule, std::less<>>& rules() {
  static constinit NeverDestroyed<std::map<std::string, Rule, std::less<>>> rules;
  return rules.get([] {
    return std::map<std::string, Rule, std::less<>>{
        {"add", neutral(0, true, false)},
        {"subtract", neutral(0, false, true)},
        {"multiply", neutral(1, true, true)},
        {"pow", &of_pow},
        {"divide", neutral(1, false, true)},
        {"negate", &twice},
        {"bitwise_not", &twice},
        {"variable", &unchanged},
        {"stop_gradient", &unchanged},
        {"reshape", &of_reshape},
        {"select", &of_select},
        {"slice", &of_slice},
        {"view_as_real", &of_parts<false>},
        {"view_as_complex", &of_parts<true>},
        {"broadcast", &unchanged},
        {"transpose", &of_transpose},
        {"matmul", &of_matmul},
        {"sum", &of_reduction},
        {"mean", &of_reduction},
        {"product", &of_reduction},
        {"reduce_max", &of_reduction},
        {"reduce_min", &of_reduction},
        {"all", &of_reduction},
        {"any", &of_reduction},
    };
  });
}

}  // namespace

void simplify(Program& program) {
  Rewriter rewriter{program};
  rewriter.run([&](std::uint32_t i) {
    const auto rule = rules().find(program.code[i].op->name);
    if (rule == rules().end()) return;
    if (const auto other = rule->second({program, i})) rewriter.replace(i, *other);
  });
}

}  // namespace stoker::expr
