// A kernel in the test's hands: it copies its input, once the test has opened the gate. Until then what is
// behind it in the queue stays pending.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "stoker/api/stoker.hpp"

namespace stoker {

/// Outlives the runs of its kernel.
struct GatedKernel {
  std::atomic<bool> open{false};
  std::atomic<int> entered{0};

  [[nodiscard]] Kernel kernel(std::string name) {
    CppKernelSpec spec;
    spec.name = std::move(name);
    spec.grain = 0;
    spec.run = [this](const CppCall& call, std::size_t begin, std::size_t end) {
      entered.fetch_add(1);
      entered.notify_all();
      open.wait(false);
      for (std::size_t i = begin; i < end; ++i) call.out<float>()[i] = call.in<float>()[i];
    };
    return cpp_kernel(std::move(spec));
  }
  /// Blocks until it has been entered as often.
  void wait_entered(int count = 1) {
    for (int now = entered.load(); now < count; now = entered.load()) entered.wait(now);
  }
  void release() {
    open = true;
    open.notify_all();
  }
};

}  // namespace stoker
