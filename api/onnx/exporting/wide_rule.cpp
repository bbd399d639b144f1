#include "stoker/api/onnx/exporting/wide_rule.hpp"

namespace stoker::onnx {

ExportRule wide_rule(WideDType wide, ExportRule rule) {
  return [wide, rule = std::move(rule)](ExportCall& call) {
    DType narrow = call.out_dtype();
    if (wide(narrow, call.opset()) == narrow) narrow = call.dtype();
    const DType own = wide(narrow, call.opset());
    if (own == narrow) return rule(call);
    call.compute_in(own, narrow);
    Names names = rule(call);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!names[i].empty() && call.out_dtype(i) == own &&
          call.instruction().specs[i].dtype == narrow)
        names[i] = call.cast(names[i], own, narrow);
    return names;
  };
}

}  // namespace stoker::onnx
