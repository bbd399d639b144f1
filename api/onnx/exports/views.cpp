// Elements read in another order.
#include <limits>

#include "stoker/api/onnx/exporting/export_table.hpp"

namespace stoker::onnx::exports::views {
namespace {

/// Where all elements are one, any view of them is that one.
ExportRule view(Names (*rule)(ExportCall&)) {
  return [rule](ExportCall& call) {
    return call.is_uniform() ? call.give_thin(call.small().first, {}) : rule(call);
  };
}

Names reshape(ExportCall& call) {
  return {call.reshaped(call.x(), call.shape(), call.out_shape())};
}

/// The operand with extents of 1 where it repeats; whoever reads it may broadcast by itself.
Names broadcast(ExportCall& call) {
  const std::vector<std::int64_t> axes = call.integers("axes");
  const auto [x, shape] = call.small();
  ExtentList own(call.out_shape().size(), Extent{1, 0});
  const std::size_t missing = axes.size() - shape.size();  // leading ones of a small operand
  for (std::size_t i = missing; i < axes.size(); ++i)
    own[static_cast<std::size_t>(axes[i])] = shape[i - missing];
  while (!own.empty() && own.front() == Extent{1, 0} && own.size() > shape.size())
    own.erase(own.begin());
  return call.give_thin(call.reshaped(x, shape, own), own);
}

Names transpose(ExportCall& call) { return {call.transposed(call.x(), call.integers("axes"))}; }

Names slice(ExportCall& call) {
  const ExtentList shape = call.shape();
  const ExtentList starts = call.extents("starts");
  const ExtentList lengths = call.extents("lengths");
  const std::vector<std::int64_t> strides = call.integers("strides");
  ExtentList from;
  ExtentList to;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (starts[axis] == Extent{} && lengths[axis] == shape[axis] && strides[axis] == 1) continue;
    from.push_back(starts[axis]);
    to.push_back({starts[axis].number + lengths[axis].number,
                  starts[axis].per_batch + lengths[axis].per_batch});
    axes.push_back(static_cast<std::int64_t>(axis));
    steps.push_back(strides[axis]);
  }
  if (axes.empty()) return {call.x()};
  GraphMaker& graph = call.graph();
  return {call.node("Slice", {call.x(), graph.dims(from), graph.dims(to), graph.integers(axes),
                              graph.integers(steps)})};
}

Names reverse(ExportCall& call) {
  const std::vector<std::int64_t> axes = call.integers("axes");
  if (axes.empty()) return {call.x()};
  constexpr std::int64_t before_first = std::numeric_limits<std::int64_t>::min() + 1;
  const std::vector<std::int64_t> last(axes.size(), -1);
  GraphMaker& graph = call.graph();
  return {call.node("Slice", {call.x(), graph.integers(last),
                              graph.integers(std::vector(axes.size(), before_first)),
                              graph.integers(axes), graph.integers(last)})};
}

}  // namespace

void define(ExportTable& table) {
  table.add("reshape", view(&reshape));
  table.add("broadcast", view(&broadcast));
  table.add("transpose", view(&transpose));
  table.add("transpose_copy", view(&transpose));
  table.add("slice", view(&slice));
  table.add("reverse", view(&reverse));
}

}  // namespace stoker::onnx::exports::views
