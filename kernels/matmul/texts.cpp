#include "stoker/kernels/matmul/texts.hpp"

// The files themselves, taken in by the assembler. STOKER_MATMUL is their folder (cmake/libraries.cmake).
#define STOKER_TEXT(name)                  \
  asm(".pushsection .rodata\n"             \
      ".hidden stoker_matmul_" #name       \
      "\n"                                 \
      ".global stoker_matmul_" #name       \
      "\n"                                 \
      "stoker_matmul_" #name               \
      ":\n"                                \
      ".incbin \"" STOKER_MATMUL "/" #name \
      ".glsl\"\n"                          \
      ".byte 0\n"                          \
      ".popsection\n");                    \
  extern "C" const char stoker_matmul_##name[] __attribute__((visibility("hidden")))

STOKER_TEXT(tiled);
STOKER_TEXT(row_dots);
STOKER_TEXT(row_sums);

namespace stoker::kernels::matmul {

std::string_view tiled_text() noexcept { return stoker_matmul_tiled; }
std::string_view row_dots_text() noexcept { return stoker_matmul_row_dots; }
std::string_view row_sums_text() noexcept { return stoker_matmul_row_sums; }

}  // namespace stoker::kernels::matmul
