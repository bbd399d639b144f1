// Links what an installed Stoker offers and looks a kernel up. Exit code 0: it works.
#include <cstdio>

#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/spirv.hpp"
#ifdef WITH_GLSL
#include "stoker/kernels/glsl/compiler.hpp"
#endif

int main() {
  const auto kernel = stoker::KernelRegistry::builtin().find("fill");
  if (kernel.has_error()) return std::puts(kernel.error().what()), 1;
  if (stoker::cpu_table().find("fill") == nullptr) return std::puts("no CPU version"), 1;
  const auto& shader = *(*kernel)->shaders.at(0);
  if (stoker::builtin_spirv(shader.name, shader.variants.at(0).name).empty())
    return std::puts("no SPIR-V"), 1;
#ifdef WITH_GLSL
  stoker::Shader own{.name = "own", .file = "own.glsl", .bindings = {}, .variants = {{"plain"}}};
  own.source = "void main() {}";
  const auto compiled = stoker::compile_glsl(own, own.variants[0]);
  if (compiled.has_error()) return std::puts(compiled.error().what()), 1;
#endif
  std::printf("stoker works on %s\n", std::string{stoker::cpu_isa()}.c_str());
}
