#include "stoker/api/onnx/run/open_program.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"

namespace stoker::onnx {

OpenProgram OpenProgram::of(const expr::Extracted& extracted, std::span<const Tensor> parameters,
                            std::shared_ptr<DeviceClient> device, bool may_choose_layouts) {
  OpenProgram made{.program = expr::prepare(extracted, device, may_choose_layouts).value(),
                   .device = std::move(device),
                   .sources = {}};
  for (const expr::Value& leaf : extracted.leaves()) {
    const auto is_leaf = [&](const Tensor& one) { return one.value().node() == leaf.node(); };
    const auto found = std::ranges::find_if(parameters, is_leaf);
    Source& source = made.sources.emplace_back();
    if (found != parameters.end())
      source.argument = static_cast<std::size_t>(found - parameters.begin());
    else
      source.captured = leaf.node()->buffers();
  }
  return made;
}

std::vector<expr::Buffers> OpenProgram::leaves(std::span<const Tensor> arguments) const {
  std::vector<expr::Buffers> leaves;
  leaves.reserve(sources.size());
  for (const Source& source : sources)
    leaves.push_back(source.captured.empty()
                         ? expr::Buffers{arguments[source.argument].value().buffer()}
                         : source.captured);
  return leaves;
}

}  // namespace stoker::onnx
