#include "stoker/kernels/glsl/compiler.hpp"

#include "stoker/kernels/glsl/frontend.hpp"
#include "stoker/kernels/shader/preamble.hpp"

namespace stoker {

Result<std::vector<std::uint32_t>> GlslCompiler::try_compile(const Shader& shader,
                                                             const ShaderVariant& variant,
                                                             bool bounded) {
  const glsl::Source source{shader.name, shader.file.empty() ? shader.name : shader.file,
                            preamble(shader, variant), shader.source, bounded};
  std::string toolchain{glsl::toolchain_version()};
  if (bounded) toolchain += ", bounded";
  const auto key = glsl::SpirvCache::key(source.preamble, source.body, toolchain);
  if (auto cached = cache_.load(key)) {
    from_cache_.fetch_add(1, std::memory_order_relaxed);
    return std::move(*cached);
  }
  compiled_.fetch_add(1, std::memory_order_relaxed);
  auto words = glsl::compile(source);
  if (words.has_error()) return words.error().with("variant", variant.name);
  cache_.store(key, *words);
  return words;
}

std::vector<std::uint32_t> compile_glsl(const Shader& shader, const ShaderVariant& variant,
                                        const std::filesystem::path& cache_dir) {
  return try_compile_glsl(shader, variant, cache_dir).value();
}

Result<std::vector<std::uint32_t>> try_compile_glsl(const Shader& shader,
                                                    const ShaderVariant& variant,
                                                    const std::filesystem::path& cache_dir) {
  return GlslCompiler{cache_dir}.try_compile(shader, variant);
}

Result<std::vector<std::uint32_t>> try_compile_bounded_glsl(
    const Shader& shader, const ShaderVariant& variant, const std::filesystem::path& cache_dir) {
  return GlslCompiler{cache_dir}.try_compile_bounded(shader, variant);
}

}  // namespace stoker
