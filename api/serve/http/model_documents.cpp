#include "stoker/api/serve/http/model_documents.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::serve::http {
namespace {

using nlohmann::json;
using onnx::ElementType;
using onnx::ValueInfo;
using onnx::ValueType;

/// The tensor, if the protocol can express it.
const ValueType* shown(const ValueInfo& info) {
  const ValueType* const tensor = protocol::tensor_of(info.type);
  return tensor != nullptr && !protocol::datatype_of(tensor->element).empty() ? tensor : nullptr;
}

bool has_free_rows(const ValueInfo& info) {
  const ValueType* const tensor = shown(info);
  return tensor != nullptr && tensor->dims && !tensor->dims->empty() &&
         !tensor->dims->front().extent;
}

json tensors(const std::vector<ValueInfo>& infos, bool without_rows) {
  json list = json::array();
  for (const ValueInfo& info : infos) {
    const ValueType* const tensor = shown(info);
    if (tensor == nullptr) continue;
    json dims = json::array();
    if (!tensor->dims) dims.push_back(-1);
    const std::size_t first = without_rows ? 1 : 0;
    for (std::size_t i = first; tensor->dims && i < tensor->dims->size(); ++i)
      dims.push_back((*tensor->dims)[i].extent.value_or(-1));
    const std::string type = tensor->element == ElementType::string
                                 ? "STRING"
                                 : std::string{protocol::datatype_of(tensor->element)};
    list.push_back({{"name", info.name}, {"data_type", "TYPE_" + type}, {"dims", std::move(dims)}});
  }
  return list;
}

}  // namespace

std::string config_document(const std::string& name, const ServedVersion& served,
                            const ServingStatus& status) {
  const AnyModel& model = served.serving->model();
  const bool batched = status.joins && std::ranges::all_of(model.inputs(), has_free_rows) &&
                       std::ranges::all_of(model.outputs(), has_free_rows);
  json document{{"name", name},
                {"platform", served.platform},
                {"backend", "stoker"},
                {"max_batch_size", batched ? status.batch_size : 0},
                {"input", tensors(model.inputs(), batched)},
                {"output", tensors(model.outputs(), batched)}};
  if (batched) {
    const auto delay =
        std::chrono::duration_cast<std::chrono::microseconds>(status.batch_timeout).count();
    document["dynamic_batching"] = {{"preferred_batch_size", status.sizes},
                                    {"max_queue_delay_microseconds", delay}};
    if (const std::size_t levels = served.serving->priorities(); levels > 1) {
      document["dynamic_batching"]["priority_levels"] = levels;
      document["dynamic_batching"]["default_priority_level"] = served.serving->default_priority();
    }
  }
  return write_json(document, BadUtf8::replace);
}

}  // namespace stoker::serve::http
