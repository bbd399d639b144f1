#include "stoker/kernels/shader_tool/shader_jobs.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "stoker/kernels/glsl/compiler.hpp"

namespace stoker::shader_tool {
namespace {

Result<std::string> read_text(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return Error{"shaders", ErrorCode::io_error, "cannot read " + file.string()};
  return std::move(text).str();
}

/// The text of a shader. A line `#include "image/border.glsl"` stands for that file of kernels/, which includes
/// nothing itself; the lines after it keep their numbers.
Result<std::string> read_shader(const std::filesystem::path& folder, const std::string& name) {
  constexpr std::string_view include = "#include \"";
  STOKER_ASSIGN(const std::string text, read_text(folder / name));
  std::istringstream lines{text};
  std::string whole;
  std::size_t number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    if (!line.starts_with(include) || !line.ends_with('"')) {
      whole += line + '\n';
      continue;
    }
    line = line.substr(include.size(), line.size() - include.size() - 1);
    STOKER_ASSIGN(const std::string part, read_text(folder / line));
    whole += part + "#line " + std::to_string(number + 1) + '\n';
  }
  return whole;
}

}  // namespace

Result<std::vector<Job>> collect(const KernelRegistry& registry,
                                 const std::filesystem::path& kernels_folder,
                                 const std::string& only) {
  // Kernels may share a shader; it is compiled once.
  std::map<std::string, std::shared_ptr<const Shader>> shaders;
  for (const auto& kernel : registry.list()) {
    for (const auto& shader : kernel->shaders) {
      if (!shader->source.empty()) continue;
      if (!only.empty() && only != kernel->name && only != shader->name) continue;
      const auto [at, added] = shaders.emplace(shader->name, shader);
      if (!added && at->second != shader &&
          (at->second->file != shader->file || at->second->prologue || shader->prologue))
        return Error{kernel->name, ErrorCode::already_exists,
                     "two shaders are named '" + shader->name + "'"};
    }
  }
  std::vector<Job> jobs;
  for (const auto& [name, shader] : shaders) {
    Shader text = *shader;
    STOKER_ASSIGN(text.source, read_shader(kernels_folder, shader->file));
    text.file = "kernels/" + shader->file;
    for (const ShaderVariant& variant : shader->variants)
      jobs.push_back({name, variant.name, text, &variant});
  }
  std::ranges::sort(jobs, {}, [](const Job& job) { return std::tie(job.shader, job.variant); });
  return jobs;
}

std::vector<Module> compile_all(const std::vector<Job>& jobs, unsigned threads,
                                const std::filesystem::path& cache, std::vector<Error>& failures) {
  GlslCompiler compiler{cache};
  std::vector<std::optional<Result<std::vector<std::uint32_t>>>> results(jobs.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++)
      results[i] = compiler.try_compile(jobs[i].text, *jobs[i].form);
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 1; i < threads; ++i) workers.emplace_back(work);
    work();
  }
  std::vector<Module> modules;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (results[i]->has_error())
      failures.push_back(results[i]->error());
    else
      modules.push_back({jobs[i].shader, jobs[i].variant, std::move(**results[i])});
  }
  return modules;
}

}  // namespace stoker::shader_tool
