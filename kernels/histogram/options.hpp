// histogram as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Histogram {
  static constexpr KernelName kind{"histogram"};
  std::int64_t bins = 256;
  double low = 0;
  double high = 1;
};
template <class V> void visit_options(Histogram& o, V&& visit) {
  visit("bins", o.bins, within(1, 65536),
        "number of equal parts of the range from low to high; the last one includes high");
  visit("low", o.low, within(-1e6, 1e6), "where the first bin begins, in units of full white");
  visit("high", o.high, within(-1e6, 1e6), "where the last bin ends, in units of full white");
}

using HistogramKernels = KernelTypes<Histogram>;

}  // namespace stoker::kernels
