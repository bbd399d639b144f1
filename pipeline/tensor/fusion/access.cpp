#include "stoker/pipeline/tensor/fusion/access.hpp"

namespace stoker::expr {
namespace {

bool is_dense(const Access& access, const Shape& shape) {
  const auto dense = shape.strides();
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] != 1 && access.strides[axis] != dense[axis]) return false;
  return true;
}

Access access_of_index(const Program& program, Ref ref) {
  const TensorSpec& spec = program.spec(ref);
  Access access = dense(ref, spec.shape, Access::Source::index);
  const std::int64_t axis = program.code[ref.instruction].attributes.integer("axis");
  if (axis < 0) return access;
  access.strides = {};
  access.strides[static_cast<std::size_t>(axis)] = 1;
  return access;
}

}  // namespace

Access dense(Ref base, const Shape& shape, Access::Source source) {
  return {source, base, 0, shape.strides()};
}

std::optional<Access> reshaped(const Access& access, const Shape& from, const Shape& to) {
  Access result = access;
  result.strides = {};
  if (access.source == Access::Source::constant) return result;
  if (is_dense(access, from)) {
    result.strides = to.strides();
    return result;
  }
  // Only axes of extent 1 came or went.
  std::size_t next = 0;
  const auto skip_ones = [&] {
    while (next < from.rank() && from[next] == 1) ++next;
  };
  for (std::size_t axis = 0; axis < to.rank(); ++axis) {
    if (to[axis] == 1) continue;
    skip_ones();
    if (next == from.rank() || from[next] != to[axis]) return std::nullopt;
    result.strides[axis] = access.strides[next++];
  }
  skip_ones();
  if (next != from.rank()) return std::nullopt;
  return result;
}

Access viewed(const Access& access, const View& view, std::size_t rank) {
  Access result = access;
  result.strides = {};
  for (std::size_t axis = 0; axis < Shape::max_rank; ++axis)
    result.offset += view.starts[axis] * access.strides[axis];
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (view.axes[axis] != View::none)
      result.strides[axis] =
          view.steps[axis] * access.strides[static_cast<std::size_t>(view.axes[axis])];
  return result;
}

Access stretched(const Access& access, const Shape& from, const Shape& to) {
  Access result = access;
  result.strides = {};
  const std::size_t added = to.rank() - from.rank();
  for (std::size_t axis = 0; axis < from.rank(); ++axis)
    if (from[axis] != 1) result.strides[axis + added] = access.strides[axis];
  return result;
}

Access access_of(const Program& program, Ref ref) {
  // Views upon views may be many: from the outermost to what they stand on, then back.
  std::vector<Ref> through;
  Ref base = ref;
  for (;;) {
    const Instruction& one = program.code[base.instruction];
    if (one.op->kind != OpKind::view && one.op->kind != OpKind::reshape) break;
    // Complex memory is bound as the pairs that it holds; see Lowering::stored().
    if (one.specs[0].dtype != program.spec(one.inputs[0]).dtype) break;
    through.push_back(base);
    base = one.inputs[0];
  }
  const OpKind kind = program.code[base.instruction].op->kind;
  Access access = kind == OpKind::index ? access_of_index(program, base)
                                        : dense(base, program.spec(base).shape,
                                                kind == OpKind::constant ? Access::Source::constant
                                                                         : Access::Source::stored);
  if (kind == OpKind::constant) access.strides = {};
  for (std::size_t i = through.size(); i-- > 0;) {
    const Instruction& one = program.code[through[i].instruction];
    const Shape& from = program.spec(one.inputs[0]).shape;
    const Shape& to = one.specs[0].shape;
    if (one.op->kind == OpKind::view) {
      const auto specs = program.input_specs(one);
      access = viewed(access, one.op->view({specs, one.attributes}, to), to.rank());
    } else if (const auto other = reshaped(access, from, to)) {
      access = *other;
    } else {
      access = dense(through[i], to);  // this one needs memory
    }
  }
  return access;
}

}  // namespace stoker::expr
