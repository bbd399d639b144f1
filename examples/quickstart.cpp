// Adds two arrays on the best device there is. Build it with `./dev build`, run
// build/bin/example_quickstart.
#include <iostream>

#include "stoker/api/stoker.hpp"

int main() {
  const stoker::System system;
  const stoker::Device device = system.device();  // a GPU if there is one, else the CPU
  const stoker::Buffer a = device.buffer({1.0F, 2.0F, 3.0F});
  const stoker::Buffer b = device.buffer({10.0F, 20.0F, 30.0F});
  const stoker::Buffer sum = device.run(stoker::kernels::Add{}, {a, b});  // returns at once
  for (const float value : sum.read<float>().get()) std::cout << value << '\n';
}
