#include "stoker/kernels/shader_tool/pack_writer.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace stoker::shader_tool {
namespace {

bool holds(const std::filesystem::path& file, const std::string& content) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream present;
  present << in.rdbuf();
  return in && present.view() == content;
}

Result<void> write_if_changed(const std::filesystem::path& file, const std::string& content) {
  if (holds(file, content)) return {};
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out << content;
  out.close();
  if (!out) return Error{"shaders", ErrorCode::io_error, "cannot write " + file.string()};
  return {};
}

}  // namespace

Result<void> write_pack(std::span<const Module> modules, const std::filesystem::path& pack,
                        const std::filesystem::path& index) {
  std::string words;
  std::ostringstream rows;
  std::map<std::string, std::size_t> placed;  // content → first word
  for (const Module& module : modules) {
    std::string bytes{reinterpret_cast<const char*>(module.words.data()), module.words.size() * 4};
    const auto [at, added] = placed.emplace(std::move(bytes), words.size() / 4);
    if (added) words += at->first;
    rows << "{\"" << module.shader << "\", \"" << module.variant << "\", " << at->second << ", "
         << module.words.size() << "},\n";
  }
  STOKER_TRY(write_if_changed(pack, words));
  // A compiler cache sees the index, but not what the assembler takes in.
  const std::string content = "// " + std::to_string(std::hash<std::string>{}(words)) + "\n";
  return write_if_changed(index, content + rows.str());
}

}  // namespace stoker::shader_tool
