// How many inputs kernels and operations take.
#pragma once

#include <cstddef>

namespace stoker {

/// How many inputs a kernel or an operation takes, both bounds inclusive.
struct Arity {
  std::size_t min = 1;
  std::size_t max = 1;
};

}  // namespace stoker
