#include "stoker/kernels/shader/spirv.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

// The pack is taken in by the assembler: as a C++ array it would take the compiler seconds.
// STOKER_SPIRV_PACK is its path; stoker-shaders writes it and the index (kernels/shader_tool).
asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".hidden stoker_spirv_pack\n"
    ".global stoker_spirv_pack\n"
    "stoker_spirv_pack:\n"
    ".incbin \"" STOKER_SPIRV_PACK
    "\"\n"
    ".balign 4\n"
    ".popsection\n");
extern "C" const std::uint32_t stoker_spirv_pack[] __attribute__((visibility("hidden")));

namespace stoker {
namespace {

struct Row {
  std::string_view shader;
  std::string_view variant;
  std::size_t first;
  std::size_t words;
};

// Ordered by shader, then variant. The last row keeps the array from being empty.
constexpr Row rows[] = {
#include "stoker/kernels/spirv_index.inc"
    {"~", "~", 0, 0},
};

constexpr auto name_of = [](const Row& row) { return std::pair{row.shader, row.variant}; };
static_assert(std::ranges::is_sorted(rows, {}, name_of));

}  // namespace

std::span<const std::uint32_t> builtin_spirv(std::string_view shader,
                                             std::string_view variant) noexcept {
  const auto* const found = std::ranges::lower_bound(rows, std::pair{shader, variant}, {}, name_of);
  if (found == std::end(rows) || name_of(*found) != std::pair{shader, variant}) return {};
  return {stoker_spirv_pack + found->first, found->words};
}

}  // namespace stoker
