// The GLSL text of a user-defined kernel, and its compilation.
//
// The class is part of the core, but its constructors are in the component glsl: programs with GLSL
// texts link Stoker::glsl, others need no compiler. Without the component the linker reports a
// missing constructor.
//
// A value; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "stoker/kernels/shader/gpu_plan.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker {

class GlslText {
 public:
  /// Empty: the kernel does not run on GPUs.
  GlslText() = default;
  GlslText(const char* text);  // NOLINT(google-explicit-constructor)
  GlslText(std::string text);  // NOLINT(google-explicit-constructor)
  /// Reads a file. Throws io_error.
  [[nodiscard]] static GlslText from_file(const std::filesystem::path& path);
  /// A text that does not come from the program itself; GlslCompiler::try_compile_bounded()
  /// compiles it.
  [[nodiscard]] static GlslText bounded(std::string text);

  [[nodiscard]] bool empty() const noexcept { return compile_ == nullptr; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The file that it was read from, for messages; otherwise empty.
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// The SPIR-V of `shader`, whose source is the text, for one variant. It is kept in `cache_dir`, unless
  /// that is empty. Precondition: not empty(). Errors: those of GlslCompiler.
  [[nodiscard]] Result<std::vector<std::uint32_t>> try_compile(
      const Shader& shader, const ShaderVariant& variant,
      const std::filesystem::path& cache_dir) const {
    return compile_(shader, variant, cache_dir);
  }

 private:
  std::string text_;
  std::string file_;
  Result<std::vector<std::uint32_t>> (*compile_)(const Shader&, const ShaderVariant&,
                                                 const std::filesystem::path&) = nullptr;
};

}  // namespace stoker
