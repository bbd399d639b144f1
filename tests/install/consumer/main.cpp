// Uses what an installed Stoker offers: runs a built-in kernel and, with the component glsl, one of its own.
// Exit code 0: it works.
#include <cstdio>

#include "stoker/api/stoker.hpp"
#ifdef WITH_GLSL
#include "stoker/api/glsl.hpp"
#endif

int main() {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const stoker::Buffer sum =
      device.run("elementwise_add", {device.buffer({1.0F, 2.0F}), device.buffer({3.0F, 4.0F})});
  if (sum.read<float>().get() != std::vector{4.0F, 6.0F}) return std::puts("wrong sum"), 1;
#ifdef WITH_GLSL
  stoker::GlslCompiler compiler;
  stoker::GlslKernelSpec twice;
  twice.name = "twice";
  twice.source = "void main() { uint i = stoker_index(); if (i < n) y(i) = 2 * x(i); }";
  twice.inputs = {{"x"}};
  const auto own = stoker::glsl_kernel(twice, compiler);
  if (own.has_error()) return std::puts(own.error().what()), 1;
#endif
  std::printf("stoker works on %s\n", device.name().c_str());
}
