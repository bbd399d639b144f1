// Compiles shaders to SPIR-V at run time, with a cache on disk.
//
// Threads: every function may be called from any thread at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "stoker/kernels/glsl/spirv_cache.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker {

class GlslCompiler {
 public:
  /// SPIR-V is kept in `cache_dir` (made when first needed); an empty path keeps none.
  explicit GlslCompiler(std::filesystem::path cache_dir = {}) : cache_{std::move(cache_dir)} {}

  /// The SPIR-V of `shader.source` for one variant, from the cache or from glslang. Throws
  /// compile_failed: details `file`, `line` (in the shader's own text, from 1), `message`, `log`.
  [[nodiscard]] std::vector<std::uint32_t> compile(const Shader& shader,
                                                   const ShaderVariant& variant) {
    return try_compile(shader, variant).value();
  }
  /// The same with the failure as a value.
  [[nodiscard]] Result<std::vector<std::uint32_t>> try_compile(const Shader& shader,
                                                               const ShaderVariant& variant) {
    return try_compile(shader, variant, false);
  }
  /// The same for a text that does not come from the program itself, such as a script's. Its
  /// tokens, calls and loops are bounded (limit_exceeded), and macros that cannot be bounded are
  /// refused (compile_failed); docs/scripts.md has the bounds. Uses up to 64 MiB of the calling
  /// thread's stack.
  [[nodiscard]] Result<std::vector<std::uint32_t>> try_compile_bounded(
      const Shader& shader, const ShaderVariant& variant) {
    return try_compile(shader, variant, true);
  }

  struct Counters {
    std::uint64_t compiled = 0;    ///< compiled by glslang, including failures
    std::uint64_t from_cache = 0;  ///< read from disk
  };
  [[nodiscard]] Counters counters() const noexcept {
    return {compiled_.load(std::memory_order_relaxed), from_cache_.load(std::memory_order_relaxed)};
  }

 private:
  Result<std::vector<std::uint32_t>> try_compile(const Shader& shader, const ShaderVariant& variant,
                                                 bool bounded);

  glsl::SpirvCache cache_;
  std::atomic<std::uint64_t> compiled_{0};
  std::atomic<std::uint64_t> from_cache_{0};
};

/// Compiles once; keeps nothing but the files in `cache_dir`. Throws the errors of
/// GlslCompiler::compile().
[[nodiscard]] std::vector<std::uint32_t> compile_glsl(const Shader& shader,
                                                      const ShaderVariant& variant,
                                                      const std::filesystem::path& cache_dir = {});
/// The same with the failure as a value.
[[nodiscard]] Result<std::vector<std::uint32_t>> try_compile_glsl(
    const Shader& shader, const ShaderVariant& variant,
    const std::filesystem::path& cache_dir = {});
/// The same by GlslCompiler::try_compile_bounded().
[[nodiscard]] Result<std::vector<std::uint32_t>> try_compile_bounded_glsl(
    const Shader& shader, const ShaderVariant& variant,
    const std::filesystem::path& cache_dir = {});

}  // namespace stoker
