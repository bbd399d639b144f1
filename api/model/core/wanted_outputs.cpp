#include <algorithm>

#include "stoker/api/model/core/backends.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::models {

void check_outputs(const std::vector<onnx::ValueInfo>& outputs,
                   const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const onnx::ValueInfo& output : outputs) known.push_back(output.name);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw Error{"predict",
                  ErrorCode::not_found,
                  "the model has no output '" + name + "'" + did_you_mean(name, known),
                  {{"output", name}}};
}

void keep_wanted(NamedValues& outputs, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::erase_if(outputs, [&](const auto& output) {
    return std::ranges::find(names, output.first) == names.end();
  });
}

}  // namespace stoker::models
