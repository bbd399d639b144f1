// One at a time may ask oneDNN to make something: it has locks that a child of fork() must find free.
#pragma once

#include "stoker/runtime/base/process_mutex.hpp"

namespace stoker::kernels::conv {

/// The same for every instruction set. Any thread.
[[nodiscard]] ProcessMutex& onednn_lock() noexcept;

}  // namespace stoker::kernels::conv
