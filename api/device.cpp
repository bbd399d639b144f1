#include "stoker/api/device.hpp"

#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/device/kernel_catalog.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/pipeline/kernel_graph/kept_arenas.hpp"

namespace stoker {
namespace {

BufferList handles_of(std::span<const Buffer> buffers) {
  BufferList handles;
  for (const Buffer& buffer : buffers) handles.push_back(&buffer.handle());
  return handles;
}

}  // namespace

const DeviceInfo& Device::info() const noexcept { return client_->info(); }

bool Device::ready() const { return !client()->is_lost(); }

Future<void> Device::when_ready() const { return client()->when_ready(); }

std::shared_ptr<DeviceClient> Device::client() const {
  if (!client_) throw Error{"device", ErrorCode::invalid_argument, "an empty device was passed"};
  return client_->is_lost() ? client_->successor() : client_;
}

Buffer Device::buffer(const TensorSpec& spec) const {
  return Buffer{client()->make_buffer(spec).value()};
}

Buffer Device::buffer(const TensorSpec& spec, std::span<const std::byte> bytes) const {
  return Buffer{client()->make_buffer(spec, bytes).value()};
}

Buffer Device::adopt(const TensorSpec& spec, std::span<std::byte> bytes,
                     std::shared_ptr<const void> owner) const {
  return Buffer{client()->adopt_buffer(spec, bytes, std::move(owner)).value()};
}

Command Device::submit(std::string_view kernel, std::span<const Buffer> inputs,
                       const Buffer& output, const Params& params,
                       const CommandOptions& options) const {
  const auto client = this->client();
  const auto handles = handles_of(inputs);
  const DeviceBuffer* const target = &output.handle();
  const KernelRequest request{
      client->kernels().find(kernel).value(), handles, {&target, 1}, &params};
  return {client->submit(request, options).value(), client};
}

std::vector<Command> Device::submit(std::span<const KernelCallRequest> calls,
                                    const CommandOptions& options) const {
  const auto client = this->client();
  std::size_t count = 0;
  for (const KernelCallRequest& call : calls) count += call.inputs.size() + call.outputs.size();
  std::vector<const DeviceBuffer*> handles;
  handles.reserve(count);  // requests look into it
  const auto append = [&](const std::vector<Buffer>& buffers) {
    const std::size_t first = handles.size();
    for (const Buffer& buffer : buffers) handles.push_back(&buffer.handle());
    return std::span<const DeviceBuffer* const>{handles}.subspan(first);
  };
  std::vector<KernelRequest> requests;
  requests.reserve(calls.size());
  for (const KernelCallRequest& call : calls) {
    // Batches repeat themselves.
    const bool again = !requests.empty() && requests.back().kernel->name == call.kernel;
    auto kernel = again ? requests.back().kernel : client->kernels().find(call.kernel).value();
    const auto inputs = append(call.inputs);
    requests.push_back({std::move(kernel), inputs, append(call.outputs), &call.params});
  }
  std::vector<CommandPtr> sent = client->submit(requests, options).value();
  std::vector<Command> commands;
  commands.reserve(sent.size());
  for (CommandPtr& state : sent) commands.emplace_back(std::move(state), client);
  return commands;
}

Buffer Device::run(std::string_view kernel, std::span<const Buffer> inputs, const Params& params,
                   const CommandOptions& options) const {
  const auto client = this->client();
  const auto handles = handles_of(inputs);
  const auto definition = client->kernels().find(kernel).value();
  const auto prepared = client->prepare(definition, handles, &params).value();
  if (prepared->outputs.size() != 1)
    throw Error{definition->name,
                ErrorCode::arity_mismatch,
                "the kernel has several outputs: use submit()",
                {{"outputs", std::to_string(prepared->outputs.size())}}};
  Buffer output{client->make_buffer(prepared->outputs[0]).value()};
  const DeviceBuffer* const target = &output.handle();
  const KernelRequest request{definition, handles, {&target, 1}, &params, prepared};
  client->submit(request, options).value()->observe();  // a failure reaches whoever uses the buffer
  return output;
}

std::vector<TensorSpec> Device::warm_up(std::string_view kernel, std::span<const TensorSpec> inputs,
                                        const Params& params) const {
  const auto client = this->client();
  client->actor().strand()->check_process("warm_up").value();
  const auto definition = client->kernels().find(kernel).value();
  const ParamSet resolved = ParamSet::resolve(definition->name, definition->params, params).value();
  return client->scheduler().executables().get(definition, inputs, resolved).value()->outputs;
}

DeviceStats Device::stats() const {
  const auto client = this->client();
  client->actor().strand()->check_process("stats").value();
  return {client->scheduler().pool().stats(), client->scheduler().stats(),
          client->scheduler().backend()->counters(), client->scheduler().executables().size(),
          client->services().get<KeptArenas>()->bytes()};
}

std::uint64_t Device::trim() const {
  const auto client = this->client();
  client->actor().strand()->check_process("trim").value();
  return client->scheduler().pool().trim();
}

}  // namespace stoker
