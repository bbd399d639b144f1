// How an error of oneDNN's becomes one of ours.
#pragma once

#include <dnnl_types.h>

#include <string>

#include "stoker/runtime/base/error.hpp"

namespace stoker::kernels::matmul {

/// `what`: "oneDNN refused the product". out_of_memory if that is the status, else internal.
[[nodiscard]] inline Error onednn_error(const char* op, const char* what, dnnl_status_t status) {
  return Error{op,
               status == dnnl_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::internal,
               what,
               {{"status", std::to_string(status)}}};
}

}  // namespace stoker::kernels::matmul
