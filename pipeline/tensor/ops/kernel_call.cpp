// Calls of kernels by their definition.
#include "stoker/pipeline/tensor/graph/kernel_call.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::expr {
namespace {

struct KernelPayload final : Payload {
  explicit KernelPayload(std::shared_ptr<const Kernel> called) : kernel{std::move(called)} {}
  /// Its address: whatever is kept under a key holds the kernel, so no other can be there meanwhile.
  [[nodiscard]] std::string key() const override {
    std::array<char, 20> text;
    const auto address = reinterpret_cast<std::uintptr_t>(kernel.get());
    const auto end = std::to_chars(text.data(), text.data() + text.size(), address, 16).ptr;
    return kernel->name + '@' + std::string{text.data(), end};
  }
  const std::shared_ptr<const Kernel> kernel;
};

Result<Specs> infer_call(const OpCall& call) {
  const Kernel& kernel = *static_cast<const KernelPayload*>(call.payload)->kernel;
  STOKER_ASSIGN(const ParamSet params,
                ParamSet::resolve(kernel.name, kernel.params, call.attributes.params()));
  STOKER_ASSIGN(const std::vector<TensorSpec> outputs, kernel.check(call.inputs, params));
  return Specs(outputs.begin(), outputs.end());
}

}  // namespace

std::vector<Value> call_kernel(std::shared_ptr<const Kernel> kernel, const Params& params,
                               std::span<const Value> inputs) {
  static constinit NamedOp op{"kernel_call"};
  const Values made = apply(op, Values(inputs.begin(), inputs.end()), Attributes{params},
                            std::make_shared<KernelPayload>(std::move(kernel)));
  return {made.begin(), made.end()};
}

std::shared_ptr<const Kernel> called_kernel(const Payload* payload) {
  const auto* call = dynamic_cast<const KernelPayload*>(payload);
  return call ? call->kernel : nullptr;
}

namespace ops::kernel_call {

void define(OpTable& table) {
  Op op;
  op.name = "kernel_call";
  op.kind = OpKind::kernel;
  op.inputs = {0, any_number};
  op.summary =
      "the result of a kernel that the program has added; the program may give it a gradient";
  op.infer = &infer_call;
  op.kernel = [](const OpCall& call) {
    return KernelUse{static_cast<const KernelPayload*>(call.payload)->kernel->name,
                     call.attributes.params()};
  };
  table.add(std::move(op));
}

}  // namespace ops::kernel_call
}  // namespace stoker::expr
