#include "stoker/pipeline/tensor/control/prepared_function.hpp"

#include <algorithm>

namespace stoker::expr {

Result<std::shared_ptr<const PreparedFunction>> PreparedFunction::make(
    const Function& function, const std::shared_ptr<DeviceClient>& device) {
  auto made = std::make_shared<PreparedFunction>();
  const Extracted extracted = extract(function.results);
  for (const Value& leaf : extracted.leaves()) {
    const auto found = std::ranges::find(function.parameters, leaf);
    if (found == function.parameters.end())
      return Error{"function", ErrorCode::internal, "a traced function is not closed"};
    made->arguments_.push_back(static_cast<std::size_t>(found - function.parameters.begin()));
  }
  STOKER_ASSIGN(made->program_, prepare(extracted, device));
  return std::shared_ptr<const PreparedFunction>{std::move(made)};
}

Result<std::vector<DeviceBuffer>> PreparedFunction::run(const std::shared_ptr<DeviceClient>& device,
                                                        std::span<const DeviceBuffer> arguments,
                                                        const CommandOptions& options) const {
  std::vector<Buffers> leaves;
  leaves.reserve(arguments_.size());
  for (const std::size_t argument : arguments_) leaves.push_back({arguments[argument]});
  return expr::run(*program_, device, leaves, options);
}

}  // namespace stoker::expr
