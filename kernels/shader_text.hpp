// Takes a shader's file into the program as text, for shaders that are put together at run time.
//
// Only for files that cmake/libraries.cmake names as taking in texts: those are compiled again when a
// text changes, and know STOKER_KERNELS, the folder of all kernels.
#pragma once

/// Defines `const char symbol[]`, the text of kernels/`path` with a 0 behind it. The assembler takes it
/// in.
#define STOKER_SHADER_TEXT(symbol, path)   \
  asm(".pushsection .rodata\n"             \
      ".hidden " #symbol                   \
      "\n"                                 \
      ".global " #symbol                   \
      "\n"                                 \
      "" #symbol                           \
      ":\n"                                \
      ".incbin \"" STOKER_KERNELS "/" path \
      "\"\n"                               \
      ".byte 0\n"                          \
      ".popsection\n");                    \
  extern "C" const char symbol[] __attribute__((visibility("hidden")))
