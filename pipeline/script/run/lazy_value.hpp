// What a script's buffer is: memory on the device, or the promise of a kernel call that has not
// run.
//
// A LazyCall holds its inputs alive until it has run; a LazyValue then holds its memory instead.
// Chains are at most `max_depth` calls long, so that dropping one cannot exhaust the stack.
//
// Threads: the script's process only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/actors/device/device_buffer.hpp"
#include "stoker/device/command_state.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/pipeline/script/run/budget.hpp"

namespace stoker::script {

struct LazyValue;
using LazyPtr = std::shared_ptr<LazyValue>;

/// A kernel call that was checked and has not run.
struct LazyCall {
  LazyCall(Budget& account, std::shared_ptr<const Kernel> what)
      : budget{&account}, kernel{std::move(what)} {}
  ~LazyCall() { budget->give_memory(charged); }
  LazyCall(const LazyCall&) = delete;
  LazyCall& operator=(const LazyCall&) = delete;

  Budget* budget;
  std::size_t charged = 0;
  std::shared_ptr<const Kernel> kernel;
  Params params;
  ParamSet resolved;
  std::vector<LazyPtr> inputs;
  std::vector<TensorSpec> specs;                  ///< of the outputs
  std::vector<std::weak_ptr<LazyValue>> outputs;  ///< those that somebody still holds
  std::uint32_t depth = 1;                        ///< calls one above the other, this included
  int line = 0;                                   ///< where the script made the call
  bool ran = false;                               ///< once as part of another evaluation
};

struct LazyValue {
  LazyValue(Budget& account, TensorSpec what) : budget{&account}, spec{what} {}
  ~LazyValue() {
    budget->give_buffer(charged);
    budget->give_memory(charged_memory);
  }
  LazyValue(const LazyValue&) = delete;
  LazyValue& operator=(const LazyValue&) = delete;

  [[nodiscard]] bool evaluated() const noexcept { return static_cast<bool>(buffer); }

  Budget* budget;
  TensorSpec spec;
  bool number = false;             ///< made of a number that a call was given
  std::shared_ptr<LazyCall> call;  ///< until it has run
  std::size_t charged = 0;         ///< device memory of `buffer` on the script's account
  std::size_t charged_memory = 0;  ///< host memory for the handles of `buffer`
  DeviceBuffer buffer;             ///< afterwards
  CommandPtr writer;               ///< the run that writes `buffer`; null: filled by the host
};

inline constexpr std::uint32_t max_depth = 256;

[[nodiscard]] std::vector<TensorSpec> specs_of(std::span<const LazyPtr> values);
/// The error of a call with the facts a script's author wants: the kernel and its inputs.
[[nodiscard]] Error about_call(const Error& error, const Kernel& kernel,
                               std::span<const TensorSpec> inputs);

}  // namespace stoker::script
