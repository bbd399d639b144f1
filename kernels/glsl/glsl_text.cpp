#include "stoker/kernels/shader/glsl_text.hpp"

#include <fstream>
#include <sstream>

#include "stoker/kernels/glsl/compiler.hpp"

namespace stoker {

GlslText::GlslText(const char* text) : GlslText{std::string{text}} {}
GlslText::GlslText(std::string text) : text_{std::move(text)}, compile_{&try_compile_glsl} {}

GlslText GlslText::from_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream read;
  read << in.rdbuf();
  if (!in)
    throw Error{
        "glsl", ErrorCode::io_error, "cannot read " + path.string(), {{"file", path.string()}}};
  GlslText text{std::move(read).str()};
  text.file_ = path.string();
  return text;
}

GlslText GlslText::bounded(std::string text) {
  GlslText bounded{std::move(text)};
  bounded.compile_ = &try_compile_bounded_glsl;
  return bounded;
}

}  // namespace stoker
