// A kernel of one's own, in GLSL for GPUs and in C++ for the CPU, under one name. It is then used
// like the built-in ones: in commands, pipelines and scripts.
#include <iostream>

#include "stoker/api/glsl.hpp"
#include "stoker/api/stoker.hpp"

namespace {

// y = a·x² + b, one thread per element; `n` is the number of output elements.
constexpr const char* source = R"(
void main() {
  uint i = stoker_index();
  if (i >= n) return;
  y(i) = a * x(i) * x(i) + b;
}
)";

const std::vector<stoker::ParamSpec> params = {
    {"a", stoker::ParamType::real, 1.0, "factor of x squared"},
    {"b", stoker::ParamType::real, 0.0, "added at the end"},
};

void compute(const stoker::CppCall& call, std::size_t begin, std::size_t end) {
  const auto x = call.in<float>();
  const auto y = call.out<float>();
  const auto a = static_cast<float>(call.params().real("a"));
  const auto b = static_cast<float>(call.params().real("b"));
  for (std::size_t i = begin; i < end; ++i) y[i] = a * x[i] * x[i] + b;
}

stoker::Kernel parabola(stoker::GlslCompiler& compiler) {
  stoker::GlslKernelSpec shader;
  shader.name = "parabola";
  shader.source = source;
  shader.inputs = {{"x"}};
  shader.params = params;
  stoker::CppKernelSpec function;
  function.name = "parabola";
  function.params = params;
  function.run = compute;
  // One kernel has one shape rule: here the shader's (GlslKernelSpec::shapes), so `function.infer` would
  // go unheard.
  stoker::Kernel kernel = stoker::glsl_kernel(shader, compiler).value();
  kernel.cpu = stoker::cpp_kernel(function).value().cpu;
  return kernel;
}

}  // namespace

int main(int argc, char** argv) try {
  const stoker::System system;
  const stoker::Device device = system.device(argc > 1 ? argv[1] : "");
  stoker::GlslCompiler compiler{system.config().cache_dir};
  system.add_kernel(parabola(compiler));

  const stoker::Buffer x = device.buffer({0.0F, 1.0F, 2.0F, 3.0F});
  const stoker::Buffer y = device.run("parabola", {x}, {{"a", 2.0}, {"b", 1.0}});
  std::cout << device.name() << ":";
  for (const float value : y.read<float>().get()) std::cout << ' ' << value;
  std::cout << '\n';

  // A mistake is shown with the line of the source it is on.
  stoker::GlslKernelSpec wrong;
  wrong.name = "wrong";
  wrong.source = "void main() {\n  y(0) = nonsense;\n}\n";
  wrong.inputs = {{"x"}};
  if (const auto refused = stoker::glsl_kernel(wrong, compiler); !refused)
    std::cout << refused.error().what() << '\n';
} catch (const stoker::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
