// How oneDNN is asked to make something.
#pragma once

#include <dnnl.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "stoker/kernels/conv/onednn_lock.hpp"
#include "stoker/runtime/base/exit_watch.hpp"
#include "stoker/runtime/base/kept_statics.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

/// Calls `make`, of one thread at a time; not once the process exits. Any thread; passes on what `make` throws.
inline void make_by_onednn(const std::function<void()>& make) {
  // oneDNN lists its ways to compute things, in static objects, when it is first asked for one.
  static std::atomic<bool> listed{false};
  bool first = false;
  const bool in_time = first_use(listed, [&] {
    first = true;
    static_cast<void>(keep_statics_of(reinterpret_cast<const void*>(&dnnl_sgemm)));
    make();
  });
  if (first || !in_time) return;
  const ExitDelay in_library;
  if (in_library.too_late()) return;
  const std::scoped_lock lock{onednn_lock()};
  make();
}

/// L{.problem = problem}, prepared so; null if it has no way to compute the problem, or the process exits.
template <class L, class P>
[[nodiscard]] std::shared_ptr<const L> prepared_by_onednn(const P& problem) {
  std::shared_ptr<L> made;
  make_by_onednn([&] {
    made = std::make_shared<L>(L{.problem = problem});
    if (!made->prepare()) made = nullptr;
  });
  return made;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
