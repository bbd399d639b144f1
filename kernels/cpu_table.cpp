#include <cstdlib>
#include <string_view>

#include "stoker/kernels/kernel.hpp"
#include "stoker/runtime/immortal.hpp"
#include "stoker/runtime/log.hpp"

// One entry for each instruction set that was built, defined in the object that holds the CPU
// versions of all kernels for it. cmake/cpu_kernels.cmake makes every other symbol of that object
// local: otherwise the linker could take a template instance compiled for AVX-512 for the whole
// program.
#define STOKER_ISA_ENTRY(name) extern "C" void stoker_cpu_table_##name(stoker::CpuTable&);
#include "stoker/kernels/cpu_isas.inc"
#undef STOKER_ISA_ENTRY

namespace stoker {
namespace {

struct InstructionSet {
  std::string_view short_name;
  std::string_view name;
  void (*fill)(CpuTable&);
  bool (*present)() noexcept;
};

#if defined(__x86_64__)
[[maybe_unused]] bool has_v1() noexcept { return true; }
// The features are listed one by one because not every compiler knows the levels' names.
[[maybe_unused]] bool has_v3() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
[[maybe_unused]] bool has_v4() noexcept {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#define STOKER_ISA_LEVEL "x86-64-"
#else
[[maybe_unused]] bool has_v1() noexcept { return true; }
#define STOKER_ISA_LEVEL "baseline-"
#endif

// Ascending, as CMake writes them.
constexpr InstructionSet built[] = {
#define STOKER_ISA_ENTRY(name) {#name, STOKER_ISA_LEVEL #name, stoker_cpu_table_##name, has_##name},
#include "stoker/kernels/cpu_isas.inc"
#undef STOKER_ISA_ENTRY
};

void warn_of_unused(std::string_view asked, std::string_view taken) noexcept {
  try {
    log_warn("STOKER_ISA names no instruction set that was built and that this processor has",
             {{"asked", std::string{asked}}, {"taken", std::string{taken}}});
  } catch (...) {
    // No memory for the message.
  }
}

/// What the environment asks for if this processor has it, else the best there is; null: none.
const InstructionSet* choose() noexcept {
  const char* const asked = std::getenv("STOKER_ISA");
  const InstructionSet* best = nullptr;
  for (const InstructionSet& candidate : built) {
    if (!candidate.present()) continue;
    best = &candidate;
    if (asked && (candidate.short_name == asked || candidate.name == asked)) return best;
  }
  if (asked && *asked && best) warn_of_unused(asked, best->name);
  return best;
}

struct Chosen {
  const InstructionSet* set = choose();
  CpuTable table;
  Chosen() noexcept {
    try {
      // Each kernel in the best set that has it: a set need not have all.
      for (const InstructionSet& one : built) {
        if (!set || &one > set) break;
        if (one.present()) one.fill(table);
      }
    } catch (...) {  // no memory for a few dozen names: no CPU versions, but no end of the process
      set = nullptr;
    }
  }
};

const Chosen& chosen() noexcept {
  // Never destroyed: a compute thread may still look up a kernel while the process exits.
  static const Immortal<Chosen> made{[] { return Chosen{}; }};
  return *made;
}

}  // namespace

const CpuTable& cpu_table() noexcept { return chosen().table; }

std::string_view cpu_isa() noexcept { return chosen().set ? chosen().set->name : "none"; }

}  // namespace stoker
