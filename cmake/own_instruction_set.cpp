// Prints the best instruction set of this machine; cmake/own_instruction_set.cmake runs it.
#include <cstdio>

#include "stoker/kernels/processor.hpp"

int main() {
  const char* const best = stoker::processor::has_v4()   ? "v4"
                           : stoker::processor::has_v3() ? "v3"
                                                         : "v1";
  return std::puts(best) < 0 ? 1 : 0;
}
