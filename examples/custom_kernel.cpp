// A kernel of one's own in one definition: GLSL for GPUs, C++ for the CPU, and its gradient. It is then used
// like the built-in ones, in commands, pipelines and scripts, and inside of lazy programs of tensors.
#include <iostream>

#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"

namespace {

// y = a·x² + b, one thread per element; `n` is the number of output elements.
constexpr const char* source = R"(
void main() {
  uint i = stoker_index();
  if (i >= n) return;
  y(i) = a * x(i) * x(i) + b;
}
)";

void compute(const stoker::CppCall& call, std::size_t begin, std::size_t end) {
  const auto x = call.in<float>();
  const auto y = call.out<float>();
  const auto a = static_cast<float>(call.params().real("a"));
  const auto b = static_cast<float>(call.params().real("b"));
  for (std::size_t i = begin; i < end; ++i) y[i] = a * x[i] * x[i] + b;
}

// The gradient by x, made of tensors: 2·a·x, times the gradient by y.
std::vector<stoker::Tensor> slope(const stoker::KernelBackward& b) {
  return {b.g() * b.x() * (2 * b.params.real("a"))};
}

}  // namespace

int main(int argc, char** argv) try {
  const stoker::System system;
  const stoker::Device device = system.device(argc > 1 ? argv[1] : "");

  const stoker::UserKernel parabola = system.add_kernel({
      .name = "parabola",
      .inputs = {{"x"}},
      .params = {{"a", stoker::ParamType::real, 1.0, "factor of x squared"},
                 {"b", stoker::ParamType::real, 0.0, "added at the end"}},
      .glsl = source,
      .cpu = compute,
      .gradient = slope,
  });

  const stoker::Buffer x = device.buffer({0.0F, 1.0F, 2.0F, 3.0F});
  const stoker::Buffer y = device.run("parabola", {x}, {{"a", 2.0}, {"b", 1.0}});
  std::cout << device.name() << ":";
  for (const float value : y.read<float>().get()) std::cout << ' ' << value;
  std::cout << '\n';

  const auto loss = [&](const stoker::Tensor& v) {
    return stoker::sum(stoker::call(parabola, {v + 1}, {{"a", 2.0}}));
  };
  std::cout << "slope:";
  for (const float value : stoker::grad(loss)(stoker::Tensor{x}).to_vector<float>())
    std::cout << ' ' << value;
  std::cout << '\n';

  // A mistake is shown with the line of the text it is on.
  try {
    system.add_kernel({.name = "wrong", .glsl = "void main() {\n  y(0) = nonsense;\n}\n"});
  } catch (const stoker::Error& error) {
    std::cout << error.what() << '\n';
  }
} catch (const stoker::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
