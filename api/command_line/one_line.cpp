#include "stoker/api/command_line/one_line.hpp"

#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {

std::string one_line(std::string_view text) {
  std::string shown;
  for (const char one : printable(text)) {
    if (one == '\n')
      shown += "\\n";
    else
      shown += one;
  }
  return shown;
}

}  // namespace stoker::command_line
