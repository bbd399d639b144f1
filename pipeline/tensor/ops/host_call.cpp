// Calls of the program's own functions between kernels.
#include "stoker/pipeline/tensor/control/host_call.hpp"

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/tensor/graph/host_step.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/runtime/futures/when.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker::expr {
namespace {

/// A function is equal to itself alone.
template <class F> struct Callback final : Payload {
  Callback(F called, std::vector<TensorSpec> results)
      : function{std::move(called)}, specs{std::move(results)} {}
  [[nodiscard]] std::string key() const override { return std::to_string(number); }

  const F function;
  const std::vector<TensorSpec> specs;
  const std::uint64_t number = Node::next_serial();
};
/// The program's functions may be written for a thread's stack.
constexpr std::size_t stack_bytes = std::size_t{1} << 20;
using Look = std::function<void(const Value&)>;

/// What a program keeps of a callback; its node may be gone.
template <class F> std::shared_ptr<const Callback<F>> shared(const Payload* payload) {
  return std::static_pointer_cast<const Callback<F>>(payload->shared_from_this());
}

/// Ready when all have been computed, of none when the options let something begin.
Result<Future<>> when_known(DeviceClient& device, std::span<const DeviceBuffer> buffers,
                            const CommandOptions& options) {
  DeviceBuffer any;
  if (buffers.empty()) {
    STOKER_ASSIGN(any, device.make_buffer({DType::u8, Shape{1}}));
    buffers = {&any, 1};
  }
  std::vector<Future<std::vector<std::byte>>> waits;
  for (const DeviceBuffer& buffer : buffers) {
    STOKER_ASSIGN(auto nothing, device.read(buffer, 0, 0, options));
    waits.push_back(std::move(nothing));
  }
  return when_all(std::move(waits)).then(device.executor(), [](const auto& all) {
    return all ? Result<void>{} : Result<void>{all.error()};
  });
}

class HookStep final : public HostStep {
 public:
  explicit HookStep(std::shared_ptr<const Callback<Look>> callback)
      : callback_{std::move(callback)} {}

  std::string name() const override { return "hook"; }

  Result<void> start(const std::shared_ptr<DeviceClient>& device,
                     std::span<const DeviceBuffer> inputs, std::span<const DeviceBuffer> outputs,
                     const CommandOptions& options) const override {
    STOKER_ASSIGN(const CommandPtr copy,
                  device->copy(inputs[0], 0, outputs[0], 0, inputs[0].spec().bytes(), options));
    copy->observe();
    STOKER_ASSIGN(const Future<> known, when_known(*device, inputs, options));
    static_cast<void>(known.then(
        device->executor(), [callback = callback_, seen = inputs[0]](const Result<void>& done) {
          if (!done) return;  // whoever uses the value hears of it
          const auto look = [&] { callback->function(from_buffer(seen)); };
          const auto told = detail::call_as_result<void>("hook", look);
          if (!told) log_warn("a hook failed", {{"reason", told.error().what()}});
        }));
    return {};
  }

 private:
  const std::shared_ptr<const Callback<Look>> callback_;
};

class HostCallStep final : public HostStep {
 public:
  explicit HostCallStep(std::shared_ptr<const Callback<HostFunction>> callback)
      : callback_{std::move(callback)} {}

  std::string name() const override { return "host_call"; }

  Result<void> start(const std::shared_ptr<DeviceClient>& device,
                     std::span<const DeviceBuffer> inputs, std::span<const DeviceBuffer> outputs,
                     const CommandOptions& options) const override {
    STOKER_ASSIGN(const Future<> known, when_known(*device, inputs, options));
    STOKER_ASSIGN(const std::shared_ptr<HeldResults> results, HeldResults::hold(device, outputs));
    std::vector<Value> values;
    for (const DeviceBuffer& input : inputs) values.push_back(from_buffer(input));
    static_cast<void>(
        known.then(device->executor(), [callback = callback_, results, values = std::move(values),
                                        stop = options.cancel](const Result<void>& done) {
          auto make = [=] {
            const auto compute = [&] {
              stop.check();
              call(*callback, values, *results);
            };
            const auto called = detail::call_as_result<void>("host_call", compute);
            if (!called) results->fail(called.error());
          };
          const auto began =
              done ? begin(results->device()->executor(), std::move(make)) : done.error();
          if (!began) results->fail(began.error());
        }));
    return {};
  }

 private:
  /// As a process: the function may wait for values, which must not take the threads that compute them.
  template <class F> static Result<void> begin(Executor& executor, F function) {
    const auto spawn = [&] {
      static_cast<void>(Process::spawn(executor, std::move(function),
                                       {.stack_bytes = stack_bytes, .name = "host_call"}));
    };
    return detail::call_as_result<void>("host_call", spawn);
  }
  static void call(const Callback<HostFunction>& callback, const std::vector<Value>& values,
                   HeldResults& results) {
    const std::vector<Value> made = callback.function(values);
    if (made.size() != callback.specs.size())
      throw Error{"host_call", ErrorCode::arity_mismatch,
                  "the function gave " + std::to_string(made.size()) + " results, expected " +
                      std::to_string(callback.specs.size())};
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i].spec() != callback.specs[i])
        throw Error{"host_call", ErrorCode::shape_mismatch,
                    "the function gave " + made[i].spec().to_string() + ", expected " +
                        callback.specs[i].to_string()};
    evaluate(made, [&] { return results.device(); });
    for (std::size_t i = 0; i < made.size(); ++i) results.write(i, 0, made[i].buffer());
    results.finish();
  }

  const std::shared_ptr<const Callback<HostFunction>> callback_;
};

}  // namespace

Value hook(const Value& x, std::function<void(const Value&)> look) {
  static constinit NamedOp op{"hook"};
  auto payload = std::make_shared<Callback<Look>>(std::move(look), std::vector<TensorSpec>{});
  return apply(op, {x}, {}, std::move(payload))[0];
}

std::vector<Value> host_call(std::span<const TensorSpec> specs, HostFunction function,
                             std::span<const Value> inputs) {
  static constinit NamedOp op{"host_call"};
  auto payload = std::make_shared<Callback<HostFunction>>(
      std::move(function), std::vector<TensorSpec>(specs.begin(), specs.end()));
  const Values made = apply(op, Values(inputs.begin(), inputs.end()), {}, std::move(payload));
  return {made.begin(), made.end()};
}

namespace ops::host_call {

void define(OpTable& table) {
  Op hook;
  hook.name = "hook";
  hook.kind = OpKind::host;
  hook.summary = "its input, unchanged; a function of the program is called with its value";
  hook.infer = [](const OpCall& call) -> Result<Specs> { return Specs{call.input()}; };
  hook.host = [](const OpCall& call,
                 const std::shared_ptr<DeviceClient>&) -> Result<std::shared_ptr<const HostStep>> {
    return std::shared_ptr<const HostStep>{std::make_shared<HookStep>(shared<Look>(call.payload))};
  };
  hook.gradient = [](const Backward& b) { return Values{b.g()}; };
  table.add(std::move(hook));

  Op called;
  called.name = "host_call";
  called.kind = OpKind::host;
  called.inputs = {0, any_number};
  called.summary = "the result of a function that the program gives, called on the host";
  called.infer = [](const OpCall& call) -> Result<Specs> {
    const auto& specs = static_cast<const Callback<HostFunction>*>(call.payload)->specs;
    return Specs(specs.begin(), specs.end());
  };
  called.host =
      [](const OpCall& call,
         const std::shared_ptr<DeviceClient>&) -> Result<std::shared_ptr<const HostStep>> {
    return std::shared_ptr<const HostStep>{
        std::make_shared<HostCallStep>(shared<HostFunction>(call.payload))};
  };
  table.add(std::move(called));
}

}  // namespace ops::host_call
}  // namespace stoker::expr
