#include "stoker/pipeline/script/lazy_value.hpp"

#include <string>

namespace stoker::script {

std::vector<TensorSpec> specs_of(std::span<const LazyPtr> values) {
  std::vector<TensorSpec> specs;
  for (const LazyPtr& value : values) specs.push_back(value->spec);
  return specs;
}

Error about_call(const Error& error, const Kernel& kernel, std::span<const TensorSpec> inputs) {
  std::string text;
  for (const TensorSpec& spec : inputs)
    text.append(text.empty() ? "" : ", ").append(spec.to_string());
  return error.with("kernel", kernel.name).with("inputs", text);
}

}  // namespace stoker::script
