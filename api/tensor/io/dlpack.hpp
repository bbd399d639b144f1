// Exchanges tensors with other libraries in the process through DLPack,
// https://dmlc.github.io/dlpack (the struct of version 0.6, which NumPy, PyTorch and JAX pass in
// capsules named "dltensor").
//
//     const Tensor x = from_dlpack(managed);            // owns `managed` from now on
//     DLManagedTensor* out = to_dlpack(x).release();    // whoever gets it calls out->deleter(out)
//
// On the CPU device copies are avoided: an imported tensor is used in place if it is row-major and
// aligned to 64 bytes, and an exported one shares the tensor's memory. Writes on either side are
// visible on the other, so do not write to shared memory. Tensors on a GPU are copied; only CPU
// memory (kDLCPU) is exchanged. bool is passed as kDLBool, which libraries before DLPack 0.8 do not
// know.
//
// Threads: any. A deleter is called once, on any thread, including Stoker's own. Both functions
// block for copies, and to_dlpack() for the value: do not call them on a host's event loop. Errors
// are thrown: unsupported for devices, dtypes and lanes without a counterpart (named),
// invalid_argument for a malformed tensor; from_dlpack() calls the deleter in that case too.
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

/// Blocks until the value is written. The result keeps the memory alive, not the device: it may
/// outlive the system.
[[nodiscard]] DlpackTensor to_dlpack(const Tensor& tensor);

/// Takes ownership of `managed`; the tensor lives on current_device(). Throws invalid_argument for
/// null.
[[nodiscard]] Tensor from_dlpack(DlpackTensor managed);
[[nodiscard]] Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace stoker
