// Reductions over axes.
#include <numeric>

#include "stoker/api/onnx/exporting/wide_rule.hpp"

namespace stoker::onnx::exports::reductions {
namespace {

std::vector<std::int64_t> axes_of(const ExportCall& call) {
  std::vector<std::int64_t> every(call.rank());
  std::iota(every.begin(), every.end(), 0);
  return call.integers("axes", every);
}

/// Axes were attributes, and became operands with opset 18, those of ReduceSum with 13.
std::string reduced(const ExportCall& call, const char* op, const std::string& x, int since) {
  const std::vector<std::int64_t> axes = axes_of(call);
  if (axes.empty()) return x;
  const NodeAttribute keep{"keepdims", std::int64_t{call.flag("keepdims")}};
  if (call.opset() >= since) return call.node(op, {x, call.graph().integers(axes)}, {keep});
  return call.node(op, {x}, {{"axes", axes}, keep});
}

/// In the dtype of the result, as Stoker sums.
ExportRule reduction(const char* op, int since) {
  return [op, since](ExportCall& call) {
    const std::string x = call.cast(call.x(), call.dtype(), call.out_dtype());
    return Names{reduced(call, op, x, since)};
  };
}

/// Truth as 1 and 0, of which the least or the largest decides.
ExportRule decision(const char* op) {
  return [op](ExportCall& call) {
    const std::string truth = call.cast(call.x(), call.dtype(), DType::boolean);
    const std::string number = call.cast(truth, DType::boolean, DType::s32);
    return Names{call.cast(reduced(call, op, number, 18), DType::s32, DType::u8)};
  };
}

ExportRule position(const char* op) {
  return [op](ExportCall& call) {
    const std::string found =
        call.node(op, {call.x()},
                  {{"axis", call.axis("axis")},
                   {"keepdims", std::int64_t{call.flag("keepdims")}},
                   {"select_last_index", std::int64_t{call.text("tie_break") == "high"}}});
    return Names{call.cast(found, DType::s64, call.out_dtype())};
  };
}

/// Extremes of integers are those of 8, 32 and 64 bits.
DType no_16_bits(DType dtype, int) {
  return is_integer(dtype) && size_of(dtype) == 2 ? DType::s32 : dtype;
}

}  // namespace

void define(ExportTable& table) {
  table.add("sum", reduction("ReduceSum", 13));
  table.add("mean", reduction("ReduceMean", 18));
  table.add("reduce_max", wide_rule(&no_16_bits, reduction("ReduceMax", 18)));
  table.add("reduce_min", wide_rule(&no_16_bits, reduction("ReduceMin", 18)));
  table.add("product", reduction("ReduceProd", 18));
  table.add("all", decision("ReduceMin"));
  table.add("any", decision("ReduceMax"));
  table.add("argmax", position("ArgMax"));
  table.add("argmin", position("ArgMin"));
}

}  // namespace stoker::onnx::exports::reductions
