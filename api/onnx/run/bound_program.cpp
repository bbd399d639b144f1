#include "stoker/api/onnx/run/bound_program.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/runtime/base/random_seed.hpp"
#include "stoker/runtime/futures/when.hpp"

namespace stoker::onnx {
namespace {

[[noreturn]] void refuse(ErrorCode code, const std::string& name, const std::string& why) {
  throw Error{"onnx.bind", code, "output '" + name + "' " + why, {{"output", name}}};
}

}  // namespace

BoundProgram::BoundProgram(OpenProgram program, const Segment& last,
                           std::span<const Tensor> arguments, std::span<const std::string> names,
                           const NamedBuffers& outputs, Buffer drawn_key)
    : program_{std::move(program)}, device_{last.client}, drawn_key_{std::move(drawn_key)} {
  std::vector<DeviceBuffer> read;
  if (program_.program) {
    has_host_steps_ = std::ranges::any_of(program_.program->steps,
                                          [](const auto& step) { return !step.pipeline; });
    leaves_ = program_.leaves(arguments);
    for (const expr::Buffers& leaf : leaves_) read.insert(read.end(), leaf.begin(), leaf.end());
    for (const DeviceBuffer& buffer : read)
      if (Buffer{buffer}.released())
        throw Error{"onnx.bind", ErrorCode::released, "the buffer of an input was released"};
    if (!has_host_steps_) made_.resize(program_.program->made.size());
  }
  std::vector<Buffer> copied(last.outputs.size());  // empty: the program writes it
  for (std::size_t i = 0; i < last.outputs.size(); ++i) {
    const Value& output = last.outputs[i];
    if (!output.is_lazy())
      refuse(ErrorCode::unsupported, names[i], "is " + output.to_string() + ", not a tensor");
    const Segment::Source& source = last.in_outputs[i];  // each output has one cell
    if (source.fixed.has_value())
      copied[i] = source.fixed.buffer();
    else if (!source.is_result)
      copied[i] = arguments[source.index].buffer();
    if (copied[i]) read.push_back(copied[i].handle());
  }
  for (std::size_t i = 0; i < last.outputs.size(); ++i) {
    add_output(names[i], last.outputs[i].tensor().spec(), outputs, read);
    const Buffer& target = outputs_.at(names[i]);
    if (copied[i])
      copies_.emplace_back(copied[i], target);
    else
      write_by_program(target, last.in_outputs[i].index);
  }
  for (std::size_t i = 0; i < made_.size(); ++i)
    if (!made_[i]) made_[i] = device_.buffer(program_.program->made[i]).handle();
}

void BoundProgram::add_output(const std::string& name, const TensorSpec& spec,
                              const NamedBuffers& given, std::span<const DeviceBuffer> read) {
  const auto found = given.find(name);
  if (found == given.end()) {
    outputs_.insert_or_assign(name, device_.buffer(spec));
    return;
  }
  const Buffer& buffer = found->second;
  if (!buffer) refuse(ErrorCode::invalid_argument, name, "is bound to an empty handle");
  if (buffer.released()) refuse(ErrorCode::released, name, "has a buffer that was released");
  if (buffer.dtype() != spec.dtype || buffer.shape() != spec.shape)
    refuse(buffer.dtype() != spec.dtype ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
           name, "is " + spec.to_string() + ", its buffer " + buffer.spec().to_string());
  if (buffer.handle().device() != device_.client())
    refuse(ErrorCode::wrong_device, name, "is bound to a buffer of another device");
  for (const auto& [other, taken] : outputs_)
    if (taken == buffer)
      throw Error{"onnx.bind",
                  ErrorCode::invalid_argument,
                  "output '" + name + "' has the buffer of output '" + other + "'",
                  {{"output", name}, {"other", other}}};
  if (std::ranges::find(read, buffer.handle()) != read.end())
    refuse(ErrorCode::invalid_argument, name, "has a buffer that a run reads");
  outputs_.insert_or_assign(name, buffer);
}

void BoundProgram::write_by_program(const Buffer& output, std::size_t result) {
  if (has_host_steps_) {
    results_.emplace_back(result, output);
    return;
  }
  const expr::LoweredProgram::Slot slot = program_.program->results[result];
  if (slot.made && !made_[slot.index] && program_.program->made[slot.index] == output.spec()) {
    made_[slot.index] = output.handle();
    return;
  }
  if (slot.made && !made_[slot.index])
    made_[slot.index] = device_.buffer(program_.program->made[slot.index]).handle();
  copies_.emplace_back(Buffer{slot.made ? made_[slot.index] : leaves_[slot.index][slot.output]},
                       output);
}

void BoundProgram::start_alone(const CommandOptions& options) const {
  std::vector<expr::Buffers> leaves = leaves_;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!program_.sources[i].captured.empty()) continue;  // nobody writes constants
    for (DeviceBuffer& input : leaves[i]) {
      const Buffer copy = device_.buffer(input.spec());
      Buffer{input}.copy_to(copy, options);
      input = copy.handle();
    }
  }
  const auto made = expr::run(*program_.program, program_.device, leaves, options).value();
  for (const auto& [result, output] : results_)
    Buffer{made[result]}.copy_to(output, 0, 0, output.size(), options);
}

Future<> BoundProgram::run(const CommandOptions& options) const {
  if (drawn_key_) {
    const DeviceScope scope{device_};
    random::key(random_seed()).buffer().copy_to(drawn_key_, options);
  }
  std::vector<CommandPtr> commands;
  if (has_host_steps_)
    start_alone(options);
  else if (program_.program)
    commands =
        expr::start(*program_.program, program_.device, leaves_, made_, options, Keep::recording)
            .value();
  if (copies_.empty() && commands.size() == 1)
    return Command{commands[0], program_.device}.future();
  for (const auto& [from, to] : copies_) from.copy_to(to, 0, 0, to.size(), options);
  std::vector<Future<>> written;
  written.reserve(outputs_.size());
  for (const auto& [name, buffer] : outputs_) written.push_back(buffer.written(options));
  return when_all(std::move(written));
}

Future<> Binding::run(const CommandOptions& options) const { return program_->run(options); }
const NamedBuffers& Binding::outputs() const noexcept { return program_->outputs(); }

}  // namespace stoker::onnx
