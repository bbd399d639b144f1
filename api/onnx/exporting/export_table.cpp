#include "stoker/api/onnx/exporting/export_table.hpp"

#include "stoker/api/onnx/exporting/export_list.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::onnx {

void ExportTable::add(const std::string& operation, ExportRule rule) {
  if (!rules_.try_emplace(operation, std::move(rule)).second)
    throw Error{"onnx.save",
                ErrorCode::already_exists,
                "the operation '" + operation + "' has a rule",
                {{"operation", operation}}};
}

const ExportRule* ExportTable::find(std::string_view operation) const noexcept {
  const auto found = rules_.find(operation);
  return found == rules_.end() ? nullptr : &found->second;
}

const ExportTable& ExportTable::standard() {
  static constinit NeverDestroyed<ExportTable> table;
  return table.get([] {
    ExportTable made;
    exports::define_all(made);
    return made;
  });
}

}  // namespace stoker::onnx
