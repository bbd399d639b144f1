#include "stoker/kernels/reduce/steps.hpp"

#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::reduce {
namespace {

struct Run {
  std::int64_t extent;
  bool reduced;
};

/// The axes without those of extent 1, neighbours of one kind merged.
std::vector<Run> runs(const Shape& shape, const std::vector<bool>& reduced) {
  std::vector<Run> result;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    if (!result.empty() && result.back().reduced == reduced[axis])
      result.back().extent *= shape[axis];
    else
      result.push_back({shape[axis], reduced[axis]});
  }
  return result;
}

}  // namespace

DType result_dtype(Operation operation, DType dtype) noexcept {
  if (operation == Operation::all || operation == Operation::any) return DType::u8;
  if (operation == Operation::max || operation == Operation::min || is_float(dtype)) return dtype;
  if (operation == Operation::mean) return DType::f32;
  if (size_of(dtype) >= 4) return dtype;
  return is_signed(dtype) ? DType::s32 : DType::u32;
}

DType partial_dtype(Operation operation, DType dtype) noexcept {
  if (operation == Operation::max || operation == Operation::min) return dtype;
  if (operation == Operation::all || operation == Operation::any) return DType::u8;
  return is_float(dtype) && size_of(dtype) == 2 ? DType::f32 : result_dtype(operation, dtype);
}

Result<std::vector<bool>> reduced_axes(std::string_view op, const KernelCall& call) {
  const auto given = options::from<ReduceSum>(call.params);  // all have the same options
  const std::vector<std::int64_t>& axes = given.axes.list();
  const std::size_t rank = call.shape().rank();
  std::vector<bool> reduced(rank, axes.empty());
  for (const std::int64_t wanted : axes) {
    STOKER_ASSIGN(const std::size_t axis, rules::axis(op, "axes", wanted, rank));
    if (reduced[axis])
      return Error{std::string{op},
                   ErrorCode::invalid_parameter,
                   "axes: axis " + std::to_string(wanted) + " occurs twice",
                   {{"parameter", "axes"}, {"input", call.shape().to_string()}}};
    reduced[axis] = true;
  }
  return reduced;
}

Steps steps(const Shape& shape, const std::vector<bool>& reduced) {
  Steps result;
  std::int64_t kept = 1;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    (reduced[axis] ? result.count : kept) *= shape[axis];
  if (result.count == 0) {
    result.steps = {{kept, 0, 1}};
    return result;
  }
  std::vector<Run> rest = runs(shape, reduced);
  while (true) {
    std::size_t at = rest.size();
    while (at > 0 && !rest[at - 1].reduced) --at;
    if (at == 0) break;
    Step step{1, rest[at - 1].extent, 1};
    for (std::size_t i = 0; i < at - 1; ++i) step.outer *= rest[i].extent;
    for (std::size_t i = at; i < rest.size(); ++i) step.inner *= rest[i].extent;
    result.steps.push_back(step);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at) - 1);
  }
  if (result.steps.empty()) result.steps = {{kept, 1, 1}};
  return result;
}

}  // namespace stoker::kernels::reduce
