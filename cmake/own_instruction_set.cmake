# stoker_own_instruction_set(OUT): the best of v1, v3 and v4 that this machine's processor has, by the
# question that the program asks itself (kernels/processor.hpp). Asked at each configuration, because
# a build folder may come to another machine.
function(stoker_own_instruction_set out)
  if(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "STOKER_CPU_VARIANTS=own asks this machine's processor, but the program is "
                        "for another one; name its instruction sets")
  endif()
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/cmake/own_instruction_set.cpp")
  set(question "${CMAKE_CURRENT_SOURCE_DIR}/kernels/processor.hpp")
  set(program "${CMAKE_CURRENT_BINARY_DIR}/own_instruction_set")
  if(NOT EXISTS "${program}" OR "${source}" IS_NEWER_THAN "${program}"
     OR "${question}" IS_NEWER_THAN "${program}")
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 "-I${STOKER_INCLUDE_DIR}" "${source}" -o
                            "${program}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
  execute_process(COMMAND "${program}" OUTPUT_VARIABLE isa OUTPUT_STRIP_TRAILING_WHITESPACE
                          COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "CPU kernels for this machine's instruction set: x86-64-${isa}")
  set(${out} ${isa} PARENT_SCOPE)
endfunction()
