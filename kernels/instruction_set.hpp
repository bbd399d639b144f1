// Which instruction set CPU kernels run with. The sets that were built are known to cpu_table.cpp alone.
#pragma once

#include <span>
#include <string_view>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker {

struct InstructionSet {
  std::string_view short_name;  ///< "v3"
  std::string_view name;        ///< "x86-64-v3"
  void (*fill)(CpuTable&);      ///< adds this set's version of each kernel that has one
  bool (*present)() noexcept;   ///< whether this processor has it
  /// Whether it and those below it have every kernel together. A set that is not served only holds what a
  /// wider one leaves to it.
  bool served;
};

/// The served set that `asked` names, by either name, if this processor has it; else the best one that it
/// has; null: none. `sets` ascend.
[[nodiscard]] const InstructionSet* choose_instruction_set(std::span<const InstructionSet> sets,
                                                           std::string_view asked) noexcept;

/// What a kernel answers on a processor that has none of the served sets.
[[nodiscard]] Error no_instruction_set(std::string_view kernel,
                                       std::span<const InstructionSet> sets);

/// Why cpu_table() does not have a kernel.
[[nodiscard]] Error no_cpu_version(std::string_view kernel);

}  // namespace stoker
