#include "stoker/runtime/base/random_seed.hpp"

#include <random>

namespace stoker {

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace stoker
