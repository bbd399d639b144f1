// stoker-shaders: compiles the built-in shaders when Stoker is built.
//
//   stoker-shaders --kernels DIR --check [NAME]                compile all (or one kernel's), report
//   stoker-shaders --kernels DIR --print SHADER VARIANT        the whole GLSL text of one variant
//   stoker-shaders --kernels DIR --pack FILE --index FILE [--cache DIR]
//
// Exit codes: 0 done, 1 something does not compile, 2 wrong use.
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/shader/preamble.hpp"
#include "stoker/kernels/shader_tool/pack_writer.hpp"
#include "stoker/kernels/shader_tool/shader_jobs.hpp"

namespace stoker::shader_tool {
namespace {

struct Options {
  std::map<std::string, std::string, std::less<>> values;  // "--pack" → its argument
  std::vector<std::string> words;

  [[nodiscard]] bool has(std::string_view name) const { return values.contains(name); }
  [[nodiscard]] std::string get(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string{} : found->second;
  }
};

Options parse(int count, char** arguments) {
  const std::set<std::string_view> flags{"--check", "--print"};
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (!argument.starts_with("--"))
      options.words.push_back(argument);
    else if (flags.contains(argument) || i + 1 == count)
      options.values[argument] = "";
    else
      options.values[argument] = arguments[++i];
  }
  return options;
}

/// One "file:line: error: …" block an editor can follow; the preamble's errors have no line.
void report(const Error& error) {
  const std::string_view file = error.detail("file");
  const std::string_view line = error.detail("line");
  const std::string place = file.empty()
                                ? "stoker-shaders"
                                : std::string{file} + (line.empty() ? "" : ":" + std::string{line});
  const std::string_view message = error.detail("message");
  std::fprintf(stderr, "%s: error: %s [%s, variant %s]\n%s", place.c_str(),
               std::string{message.empty() ? error.reason() : message}.c_str(),
               std::string{error.op()}.c_str(), std::string{error.detail("variant")}.c_str(),
               std::string{error.detail("log")}.c_str());
}

int print_text(const std::vector<Job>& jobs, const std::vector<std::string>& words) {
  for (const Job& job : jobs) {
    if (words.size() != 2 || job.shader != words[0] || job.variant != words[1]) continue;
    std::printf("%s%s", preamble(job.text, *job.form).c_str(), job.text.source.c_str());
    return 0;
  }
  std::fprintf(stderr, "stoker-shaders: no such shader and variant; there are:\n");
  for (const Job& job : jobs)
    std::fprintf(stderr, "  %s %s\n", job.shader.c_str(), job.variant.c_str());
  return 2;
}

int run(const Options& options) {
  if (!options.has("--kernels") ||
      !(options.has("--check") || options.has("--print") || options.has("--pack"))) {
    std::fprintf(
        stderr,
        "usage: stoker-shaders --kernels DIR "
        "(--check [NAME] | --print SHADER VARIANT | --pack FILE --index FILE) [--cache DIR]\n");
    return 2;
  }
  const std::string only = options.has("--check") && !options.words.empty() ? options.words[0] : "";
  auto jobs = collect(KernelRegistry::builtin(), options.get("--kernels"), only);
  if (jobs.has_error()) return report(jobs.error()), 1;
  if (options.has("--print")) return print_text(*jobs, options.words);

  const auto start = std::chrono::steady_clock::now();
  std::vector<Error> failures;
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  const std::vector<Module> modules = compile_all(*jobs, threads, options.get("--cache"), failures);
  for (const Error& failure : failures) report(failure);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "stoker-shaders: %zu of %zu variants compiled in %.1f s\n", modules.size(),
               jobs->size(), took.count());
  if (!failures.empty()) return 1;
  if (!options.has("--pack")) return 0;
  const auto written = write_pack(modules, options.get("--pack"), options.get("--index"));
  if (written.has_error()) return report(written.error()), 1;
  return 0;
}

}  // namespace
}  // namespace stoker::shader_tool

int main(int count, char** arguments) try {
  return stoker::shader_tool::run(stoker::shader_tool::parse(count, arguments));
} catch (const std::exception& error) {
  std::fprintf(stderr, "stoker-shaders: %s\n", error.what());
  return 1;
}
