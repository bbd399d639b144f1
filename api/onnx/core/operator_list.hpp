// Every file of api/onnx/operators; the definition is generated (cmake/generated_lists.cmake).
#pragma once

namespace stoker::onnx {
class OperatorTable;
}

namespace stoker::onnx::operators {

void define_all(OperatorTable& table);

}  // namespace stoker::onnx::operators
