// Values without inputs, and those that only stand for others.
#include <numeric>

#include "stoker/api/onnx/exporting/export_table.hpp"

namespace stoker::onnx::exports::leaves {
namespace {

/// Longer ones are counted by the graph.
constexpr std::int64_t longest_list = 4096;

Names constant(ExportCall& call) {
  const DType dtype = call.out_dtype();
  const Extent bits = call.extent("bits");
  if (bits.is_fixed())
    return call.give_thin(call.graph().scalar_bits(static_cast<std::uint64_t>(bits.number), dtype),
                          {});
  if (!is_integer(dtype)) call.refuse("a number depends on the batch");
  const std::string number = call.cast(call.graph().dims({bits}), DType::s64, dtype);
  return call.give_thin(call.reshaped(number, {{1, 0}}, {}), {});
}

/// s64 0, 1, … n - 1.
std::string counted(const ExportCall& call, const Extent& n) {
  GraphMaker& graph = call.graph();
  if (n.is_fixed() && n.number <= longest_list) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(n.number));
    std::iota(numbers.begin(), numbers.end(), 0);
    return graph.integers(numbers);
  }
  const std::string limit = call.reshaped(graph.dims({n}), {{1, 0}}, {});
  return call.node("Range", {graph.scalar(0, DType::s64), limit, graph.scalar(1, DType::s64)});
}

Names iota(ExportCall& call) {
  const ExtentList shape = call.out_shape();
  const std::int64_t axis = call.integer("axis");
  if (axis < 0) {
    Extent all{1, 0};
    for (const Extent& one : shape) {
      if (!all.is_fixed() && !one.is_fixed()) call.refuse("a number depends on the batch squared");
      all = {all.number * one.number, all.number * one.per_batch + all.per_batch * one.number};
    }
    const std::string numbers = call.cast(counted(call, all), DType::s64, call.out_dtype());
    return {call.reshaped(numbers, {all}, shape)};
  }
  const Extent n = shape[static_cast<std::size_t>(axis)];
  ExtentList own(shape.size() - static_cast<std::size_t>(axis), Extent{1, 0});
  own[0] = n;
  const std::string numbers = call.cast(counted(call, n), DType::s64, call.out_dtype());
  return call.give_thin(call.reshaped(numbers, {n}, own), own);
}

Names same(ExportCall& call) {
  auto [name, shape] = call.small();
  return call.give_thin(std::move(name), std::move(shape));
}

}  // namespace

void define(ExportTable& table) {
  table.add("constant", &constant);
  table.add("iota", &iota);
  for (const char* name : {"variable", "stop_gradient", "computed_after", "hook"})
    table.add(name, &same);
}

}  // namespace stoker::onnx::exports::leaves
