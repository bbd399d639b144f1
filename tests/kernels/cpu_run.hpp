// Built-in kernels and plans run in tests as the scheduler runs them, on this thread.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/kernels/kernel.hpp"

namespace stoker {

using Bytes = std::vector<std::byte>;

/// Memory as the scheduler gives it: aligned to 64 bytes.
class Block {
 public:
  explicit Block(std::size_t size, const Bytes& bytes = {});
  [[nodiscard]] std::byte* get() const { return memory_.get(); }
  /// False once something was written behind its end.
  [[nodiscard]] bool is_intact() const;

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
  std::byte* end_;
};

/// What a plan leaves in outputs of these specs. The slices of a stage run last to first: their order
/// must not matter. Throws std::logic_error if something was written behind the end of the memory.
[[nodiscard]] std::vector<Bytes> run_plan(const CpuPlan& plan, std::span<const Bytes> inputs,
                                          std::span<const TensorSpec> outputs);

/// What a built-in kernel's shape rule says: outputs, or why there are none.
[[nodiscard]] Result<std::vector<TensorSpec>> infer(std::string_view kernel,
                                                    const std::vector<TensorSpec>& inputs,
                                                    const Params& params = {});

struct KernelOutputs {
  std::vector<TensorSpec> specs;
  std::vector<Bytes> bytes;
};
/// What a built-in kernel computes on the CPU. Throws what refuses it.
[[nodiscard]] KernelOutputs run_kernel(std::string_view kernel,
                                       const std::vector<TensorSpec>& specs,
                                       std::span<const Bytes> inputs, const Params& params = {});

template <class T> [[nodiscard]] Bytes bytes_of(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}
template <class T> [[nodiscard]] std::vector<T> values_in(const Bytes& bytes) {
  const auto* values = reinterpret_cast<const T*>(bytes.data());
  return {values, values + bytes.size() / sizeof(T)};
}

}  // namespace stoker
