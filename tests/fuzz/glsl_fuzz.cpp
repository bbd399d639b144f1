// GLSL that is not the program's own: the compiler makes a module of it or says what is wrong, within its stack.
#include "fuzz.hpp"
#include "stoker/kernels/glsl/compiler.hpp"
#include "stoker/kernels/shader/spirv_module.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker::fuzz::glsl {

void run(Bytes bytes) {
  constexpr std::size_t longest = std::size_t{64} << 10;
  const ShaderVariant f32{"f32", {{"T", DType::f32}}};
  Shader shader{.name = "fuzz",
                .file = "fuzz",
                .bindings = {{"x", "T"}, {"y", "T", true}},
                .variants = {f32}};
  shader.push = {{"n"}};
  shader.source = text_of(bytes.first(std::min(bytes.size(), longest)));
  const auto compile = [&] { return try_compile_bounded_glsl(shader, f32); };
  const auto words =
      Process::spawn(system().executor(), compile, {.stack_bytes = std::size_t{65} << 20}).wait();
  if (words.has_error()) return require_refusal(words.error());
  require(words->size() > spirv_header_words, "a text that is compiled is a module");
}

}  // namespace stoker::fuzz::glsl
