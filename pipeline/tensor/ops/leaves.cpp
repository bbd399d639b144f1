// Values without inputs.
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::leaves {
namespace {

Result<Specs> given_spec(const OpCall& call) { return Specs{call.attributes.spec()}; }

void leaf(OpTable& table, const char* name, OpKind kind, const char* summary) {
  Op op;
  op.name = name;
  op.kind = kind;
  op.inputs = {0, 0};
  op.summary = summary;
  op.infer = &given_spec;
  op.zero_gradient = true;
  op.tracks = kind == OpKind::parameter;
  table.add(std::move(op));
}

/// The same elements.
Op identity(const char* name, const char* summary) {
  Op op;
  op.name = name;
  op.kind = OpKind::reshape;
  op.summary = summary;
  op.infer = [](const OpCall& call) -> Result<Specs> { return Specs{call.input()}; };
  op.batch = &batch_leading;
  return op;
}

}  // namespace

void define(OpTable& table) {
  leaf(table, "known", OpKind::known, "a tensor that is in a buffer already");
  leaf(table, "parameter", OpKind::parameter,
       "an input of a traced function, given when the function runs");
  leaf(table, "constant", OpKind::constant, "the same number in every element");
  Op variable = identity("variable", "a value with respect to which gradients are taken");
  variable.gradient = [](const Backward& b) { return Values{b.g()}; };
  variable.tracks = true;
  table.add(std::move(variable));
  Op stop = identity("stop_gradient", "the same elements, through which no gradient passes");
  stop.zero_gradient = true;
  table.add(std::move(stop));
  leaf(table, "iota", OpKind::index, "0, 1, … along an axis, or over all elements");
}

}  // namespace stoker::expr::ops::leaves
