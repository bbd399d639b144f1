#include <array>
#include <cstdlib>

#include "stoker/kernels/instruction_set.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/processor.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"
#include "stoker/runtime/observe/log.hpp"

// One entry for each instruction set that was built, defined in the object that holds the CPU
// versions of its kernels. cmake/cpu_kernels.cmake makes every other symbol of that object
// local: otherwise the linker could take a template instance compiled for AVX-512 for the whole
// program.
#define STOKER_ISA_ENTRY(name, served) extern "C" void stoker_cpu_table_##name(stoker::CpuTable&);
#include "stoker/kernels/cpu_isas.inc"
#undef STOKER_ISA_ENTRY

namespace stoker {
namespace {

#if defined(__x86_64__)
#define STOKER_ISA_LEVEL "x86-64-"
#else
#define STOKER_ISA_LEVEL "baseline-"
#endif

// Ascending, as CMake writes them.
constexpr std::array built = {
#define STOKER_ISA_ENTRY(name, served)                                                          \
  InstructionSet{#name, STOKER_ISA_LEVEL #name, stoker_cpu_table_##name, processor::has_##name, \
                 served},
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

/// What the environment asks for if it is there, else the best there is; null: none.
const InstructionSet* choose() noexcept {
  const char* const given = std::getenv("STOKER_ISA");
  const std::string_view asked = given ? given : "";
  const InstructionSet* const taken = choose_instruction_set(built, asked);
  if (!asked.empty() && taken && asked != taken->short_name && asked != taken->name)
    warn_of_unused(asked, taken->name);
  return taken;
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
  static constinit NeverDestroyed<Chosen> made;
  return made.get([] { return Chosen{}; });
}
[[maybe_unused]] const Chosen& made_in_time = chosen();  // that takes memory

}  // namespace

const InstructionSet* choose_instruction_set(std::span<const InstructionSet> sets,
                                             std::string_view asked) noexcept {
  const InstructionSet* best = nullptr;
  for (const InstructionSet& candidate : sets) {
    if (!candidate.served || !candidate.present()) continue;
    best = &candidate;
    if (!asked.empty() && (candidate.short_name == asked || candidate.name == asked)) break;
  }
  return best;
}

Error no_instruction_set(std::string_view kernel, std::span<const InstructionSet> sets) {
  std::string_view needed;
  for (const InstructionSet& one : sets)
    if (one.served && needed.empty()) needed = one.name;
  return {std::string{kernel},
          ErrorCode::unsupported,
          "the CPU kernels of this program were built for " + std::string{needed} +
              ", which this processor lacks; build it on this machine, or for all processors "
              "(-DSTOKER_CPU_VARIANTS=all)",
          {{"device", "cpu"}, {"needs", std::string{needed}}}};
}

const CpuTable& cpu_table() noexcept { return chosen().table; }

Error no_cpu_version(std::string_view kernel) {
  return chosen().set ? Error{std::string{kernel},
                              ErrorCode::unsupported,
                              "this kernel has no CPU version",
                              {{"device", "cpu"}}}
                      : no_instruction_set(kernel, built);
}

std::string_view cpu_isa() noexcept { return chosen().set ? chosen().set->name : "none"; }

}  // namespace stoker
