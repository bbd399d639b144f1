#include "stoker/pipeline/onnx/graph/shown.hpp"

#include "stoker/runtime/base/printable.hpp"

namespace stoker::onnx {

std::string shown(std::string_view name) {
  constexpr std::size_t most = 128;
  return name.size() > most ? printable(name.substr(0, most)) + "..." : printable(name);
}

std::string in_quotes(std::string_view name) { return '\'' + shown(name) + '\''; }

}  // namespace stoker::onnx
