// Tensors to and from other libraries of the process, by DLPack: one struct that all agree on.
// https://dmlc.github.io/dlpack (the structure of version 0.6, which NumPy, PyTorch and JAX pass in
// capsules named "dltensor").
//
//     const Tensor x = from_dlpack(managed);            // owns `managed` from now on
//     DLManagedTensor* out = to_dlpack(x).release();    // whoever gets it calls out->deleter(out)
//
// On the CPU device nothing is copied where it can be avoided: what comes is used in place if it is
// row-major and begins at a multiple of 64 bytes, what goes is the tensor's own memory. Writes of either
// side show on the other, so better leave such memory alone. A GPU's tensors travel by copy; only memory
// of the CPU (kDLCPU) comes and goes. bool travels as kDLBool, which libraries older than DLPack 0.8 do
// not know.
//
// Threads: any. Deleters are called once, on any thread: on one of Stoker's when the last command ends.
// Both wait for a copy, to_dlpack() also for the value; not on a host's event loop. Errors are thrown:
// unsupported for devices, dtypes and lanes that there are none for (named), invalid_argument for what is
// no tensor; from_dlpack() calls the deleter then, too.
#pragma once

#include <memory>

#include "stoker/api/tensor/core/tensor.hpp"

struct DLManagedTensor;  // dlpack/dlpack.h

namespace stoker {

/// Calls the tensor's own deleter.
struct DlpackDeleter {
  void operator()(DLManagedTensor* managed) const noexcept;
};
using DlpackTensor = std::unique_ptr<DLManagedTensor, DlpackDeleter>;

/// Computed and written when this returns. Keeps the memory, not the device: it may outlive the system.
[[nodiscard]] DlpackTensor to_dlpack(const Tensor& tensor);

/// On current_device(). Null throws invalid_argument.
[[nodiscard]] Tensor from_dlpack(DlpackTensor managed);
[[nodiscard]] Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace stoker
