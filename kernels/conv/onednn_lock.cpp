#include "stoker/kernels/conv/onednn_lock.hpp"

namespace stoker::kernels::conv {
namespace {

// Of the program's load, not of the first call: fork() must not come while it is being made.
ProcessMutex making;

}  // namespace

ProcessMutex& onednn_lock() noexcept { return making; }

}  // namespace stoker::kernels::conv
