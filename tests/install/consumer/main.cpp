// Uses what an installed Stoker offers: runs a built-in kernel and, with the component glsl, one of its own.
// Exit code 0: it works.
#include <cstdio>
#include <vector>

#include "stoker/api/nn.hpp"  // of an installed copy: its umbrella of layers is made by the build
#include "stoker/api/nn_script.hpp"
#include "stoker/api/onnx.hpp"
#include "stoker/api/stoker.hpp"

int main() {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const stoker::Buffer x = device.buffer({1.0F, 2.0F});
  if (device.run(stoker::kernels::Add{}, {x, x}).read<float>().get() != std::vector{2.0F, 4.0F})
    return std::puts("wrong sum"), 1;
  // A kernel of one's own needs no compiler as long as it has no GLSL.
  system.add_kernel(
      {.name = "twice", .cpu = [](const stoker::CppCall& call, std::size_t begin, std::size_t end) {
         for (std::size_t i = begin; i < end; ++i) call.out<float>()[i] = 2 * call.in<float>()[i];
       }});
  if (device.run("twice", {x}).read<float>().get() != std::vector{2.0F, 4.0F})
    return std::puts("wrong product"), 1;
#ifdef WITH_GLSL
  system.add_kernel({.name = "shaded", .glsl = "void main() { y(0) = x(0); }"});
#endif
  std::printf("stoker works on %s\n", device.name().c_str());
}
