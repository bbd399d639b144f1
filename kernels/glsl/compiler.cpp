#include "stoker/kernels/glsl/compiler.hpp"

#include "stoker/kernels/glsl/frontend.hpp"
#include "stoker/kernels/preamble.hpp"

namespace stoker {

Result<std::vector<std::uint32_t>> GlslCompiler::compile(const Shader& shader,
                                                         const ShaderVariant& variant) {
  const glsl::Source source{shader.name, shader.file.empty() ? shader.name : shader.file,
                            preamble(shader, variant), shader.source};
  const auto key = glsl::SpirvCache::key(source.preamble, source.body, glsl::toolchain_version());
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

Result<std::vector<std::uint32_t>> compile_glsl(const Shader& shader, const ShaderVariant& variant,
                                                const std::filesystem::path& cache_dir) {
  return GlslCompiler{cache_dir}.compile(shader, variant);
}

}  // namespace stoker
