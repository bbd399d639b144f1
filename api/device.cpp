#include "stoker/api/device.hpp"

#include "stoker/actors/kernel_catalog.hpp"

namespace stoker {
namespace {

std::vector<DeviceBuffer> handles_of(std::span<const Buffer> buffers) {
  std::vector<DeviceBuffer> handles;
  handles.reserve(buffers.size());
  for (const Buffer& buffer : buffers) handles.push_back(buffer.handle());
  return handles;
}

}  // namespace

Buffer Device::buffer(const TensorSpec& spec) const {
  return Buffer{client_->make_buffer(spec).value()};
}

Buffer Device::buffer(const TensorSpec& spec, std::span<const std::byte> bytes) const {
  return Buffer{client_->make_buffer(spec, bytes).value()};
}

Command Device::submit(std::string_view kernel, std::span<const Buffer> inputs,
                       const Buffer& output, const Params& params,
                       const CommandOptions& options) const {
  const auto handles = handles_of(inputs);
  const KernelRequest request{
      client_->kernels().find(kernel).value(), handles, {&output.handle(), 1}, &params};
  return {client_->submit(request, options).value(), client_};
}

std::vector<Command> Device::submit(std::span<const KernelCallRequest> calls,
                                    const CommandOptions& options) const {
  std::vector<std::vector<DeviceBuffer>> handles;
  std::vector<KernelRequest> requests;
  handles.reserve(2 * calls.size());
  requests.reserve(calls.size());
  for (const KernelCallRequest& call : calls) {
    handles.push_back(handles_of(call.inputs));
    handles.push_back(handles_of(call.outputs));
    requests.push_back({client_->kernels().find(call.kernel).value(), handles[handles.size() - 2],
                        handles.back(), &call.params});
  }
  std::vector<Command> commands;
  for (CommandPtr& state : client_->submit(requests, options).value())
    commands.push_back({std::move(state), client_});
  return commands;
}

Buffer Device::run(std::string_view kernel, std::span<const Buffer> inputs,
                   const Params& params) const {
  const auto handles = handles_of(inputs);
  const auto definition = client_->kernels().find(kernel).value();
  const auto prepared = client_->prepare(definition, handles, &params).value();
  if (prepared->outputs.size() != 1)
    throw Error{definition->name,
                ErrorCode::arity_mismatch,
                "the kernel has several outputs: use submit()",
                {{"outputs", std::to_string(prepared->outputs.size())}}};
  const Buffer output = buffer(prepared->outputs[0]);
  const KernelRequest request{definition, handles, {&output.handle(), 1}, &params};
  client_->submit(request).value()->observe();  // a failure reaches whoever uses the buffer
  return output;
}

std::vector<TensorSpec> Device::warm_up(std::string_view kernel, std::span<const TensorSpec> inputs,
                                        const Params& params) const {
  const auto definition = client_->kernels().find(kernel).value();
  const ParamSet resolved = ParamSet::resolve(definition->name, definition->params, params).value();
  return client_->shell().executables().get(definition, inputs, resolved).value()->outputs;
}

DeviceStats Device::stats() const {
  return {client_->shell().pool().stats(), client_->shell().stats(),
          client_->shell().backend()->counters()};
}

std::uint64_t Device::trim() const { return client_->shell().pool().trim(); }

}  // namespace stoker
