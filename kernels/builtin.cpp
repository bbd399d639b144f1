// The registry of built-in kernels. Apart from kernel.cpp, so that tools which only need the types
// do not link every kernel.
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/kernel_list.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker {

const KernelRegistry& KernelRegistry::builtin() {
  // A thread may look up a kernel while the process exits.
  static constinit NeverDestroyed<KernelRegistry> made;
  return made.get([] {
    KernelRegistry registry;
    kernels::define_all(registry).value();
    return registry;
  });
}

}  // namespace stoker
