// The families of operations; the definition is generated from the files of ops/
// (cmake/generated_lists.cmake).
#pragma once

namespace stoker::expr {
class OpTable;
}

namespace stoker::expr::ops {

void define_all(OpTable& table);

}  // namespace stoker::expr::ops
