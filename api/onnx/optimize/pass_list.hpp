// Every file of api/onnx/passes; the definition is generated (cmake/generated_lists.cmake).
#pragma once

namespace stoker::onnx {
class PassTable;
}

namespace stoker::onnx::passes {

void define_all(PassTable& table);

}  // namespace stoker::onnx::passes
