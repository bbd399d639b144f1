// The registry of built-in kernels. Apart from kernel.cpp, so that tools which only need the types
// do not link every kernel.
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/kernel_list.hpp"

namespace stoker {
namespace {

/// Built once and never destroyed: a thread may look up a kernel while the process exits.
union Immortal {
  KernelRegistry registry;
  Immortal() : registry{} {
    if (auto defined = kernels::define_all(registry); defined.has_error()) {
      registry.~KernelRegistry();
      throw Error{defined.error()};
    }
  }
  ~Immortal() {}
};

}  // namespace

const KernelRegistry& KernelRegistry::builtin() {
  static const Immortal immortal;
  return immortal.registry;
}

}  // namespace stoker
