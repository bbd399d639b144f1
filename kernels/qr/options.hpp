// qr as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

/// k columns of Q and rows of R, or m of both.
enum class QrMode : std::uint8_t { reduced, complete };

struct Qr {
  static constexpr KernelName kind{"qr"};
  QrMode mode = QrMode::reduced;
};
template <class V> void visit_options(Qr& o, V&& visit) {
  visit("mode", o.mode,
        one_of<QrMode>({{"reduced", QrMode::reduced}, {"complete", QrMode::complete}}),
        "reduced: Q has k columns and R has k rows; complete: m of both");
}

using QrKernels = KernelTypes<Qr>;

}  // namespace stoker::kernels
