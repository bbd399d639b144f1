// Every variant of every built-in shader, compiled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "stoker/kernels/kernel.hpp"

namespace stoker::shader_tool {

/// One variant of one shader, with its text.
struct Job {
  std::string shader;
  std::string variant;
  Shader text;  ///< as declared, with `source` read from its file
  const ShaderVariant* form;
};

struct Module {
  std::string shader;
  std::string variant;
  std::vector<std::uint32_t> words;
};

/// The jobs of all kernels in `registry`, ordered by shader and variant; `only` (a shader's or a
/// kernel's name), if not empty, picks some. io_error: a file cannot be read; already_exists: two
/// shaders share a name but not a file.
[[nodiscard]] Result<std::vector<Job>> collect(const KernelRegistry& registry,
                                               const std::filesystem::path& kernels_folder,
                                               const std::string& only);

/// Compiles on `threads` threads. Every failure goes to `failures`; what compiled is returned, in
/// the order of the jobs.
[[nodiscard]] std::vector<Module> compile_all(const std::vector<Job>& jobs, unsigned threads,
                                              const std::filesystem::path& cache,
                                              std::vector<Error>& failures);

}  // namespace stoker::shader_tool
