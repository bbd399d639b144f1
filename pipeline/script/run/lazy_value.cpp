#include "stoker/pipeline/script/run/lazy_value.hpp"

#include <algorithm>
#include <string>

namespace stoker::script {

std::vector<TensorSpec> specs_of(std::span<const LazyPtr> values) {
  std::vector<TensorSpec> specs;
  for (const LazyPtr& value : values) specs.push_back(value->spec);
  return specs;
}

Error about_call(const Error& error, const Kernel& kernel, std::span<const TensorSpec> inputs) {
  constexpr std::size_t most = 16;  // a script may keep errors of calls with any number of them
  std::string text;
  for (const TensorSpec& spec : inputs.first(std::min(most, inputs.size())))
    text.append(text.empty() ? "" : ", ").append(spec.to_string());
  if (inputs.size() > most) text += ", … (" + std::to_string(inputs.size()) + " inputs)";
  const bool named = !error.detail("kernel").empty();  // a C++ kernel's errors are
  return (named ? error : error.with("kernel", kernel.name)).with("inputs", text);
}

}  // namespace stoker::script
