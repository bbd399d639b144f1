// Every file of api/onnx/exports; the definition is generated (cmake/generated_lists.cmake).
#pragma once

namespace stoker::onnx {
class ExportTable;
}

namespace stoker::onnx::exports {

void define_all(ExportTable& table);

}  // namespace stoker::onnx::exports
