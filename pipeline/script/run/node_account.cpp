#include "stoker/pipeline/script/run/node_account.hpp"

#include <algorithm>
#include <string>

namespace stoker::script {

std::size_t bytes_of(const expr::Node& node) {
  return sizeof(expr::Node) + sizeof(NodeAccount) + 64 + node.specs().size() * sizeof(TensorSpec) +
         node.attributes().params().entries().size() * 160;
}

Error about_call(const Error& error, std::string_view name, std::span<const expr::Value> inputs) {
  constexpr std::size_t most = 16;  // a script may keep errors of calls with any number of them
  std::string text;
  for (const expr::Value& input : inputs.first(std::min(most, inputs.size())))
    text.append(text.empty() ? "" : ", ").append(input.spec().to_string());
  if (inputs.size() > most) text += ", … (" + std::to_string(inputs.size()) + " inputs)";
  const Error own{std::string{name},
                  error.code(),
                  std::string{error.reason()},
                  {error.details().begin(), error.details().end()}};
  const bool named = !error.detail("kernel").empty();  // a C++ kernel's errors are
  return (named ? own : own.with("kernel", std::string{name})).with("inputs", text);
}

}  // namespace stoker::script
