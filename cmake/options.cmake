# What the builder chooses, and how everything is compiled.

option(BUILD_SHARED_LIBS "Build Stoker's libraries as shared ones" OFF)
option(STOKER_BUILD_COMMAND "Build the stoker command" ${PROJECT_IS_TOP_LEVEL})
option(STOKER_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(STOKER_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(STOKER_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(STOKER_BUILD_FUZZ "Build the fuzzers, with clang" OFF)
option(STOKER_INSTALL "Define the install rules" ${PROJECT_IS_TOP_LEVEL})
option(STOKER_UNITY "Compile several small sources together" ON)
set(CMAKE_UNITY_BUILD OFF)  # groups.cmake makes its own; a parent project may want CMake's for its sources
set(STOKER_SANITIZE "" CACHE STRING "Sanitizers: empty, address;undefined or thread")
set(STOKER_CPU_VARIANTS "all" CACHE STRING
    "Processors that CPU kernels are compiled for: all, or a list of own, v1 (the baseline), v3 and v4")
set(STOKER_CHECKED_HEADERS "" CACHE STRING "Headers that stoker_check_headers compiles; all of them if empty")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(STOKER_CCACHE ccache)
if(STOKER_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # What a source depends on is known from the compiler, which saves ccache a pass over it. The
  # sloppiness is what its manual asks for with precompiled headers, and that objects do not depend on the language of
  # messages. ccache compares paths relative to the checkout, so that what one has compiled serves another.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros,locale
      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_ABSSTDERR=1 "${STOKER_CCACHE}")
endif()

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bin")
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/lib")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# Includes read "stoker/<layer>/<file>.hpp" in the source tree and in an installed copy alike.
set(STOKER_INCLUDE_DIR "${CMAKE_CURRENT_BINARY_DIR}/include")
set(STOKER_GENERATED_DIR "${CMAKE_CURRENT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${STOKER_INCLUDE_DIR}" "${STOKER_GENERATED_DIR}/stoker/kernels")
file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${STOKER_INCLUDE_DIR}/stoker" SYMBOLIC)

# What depends on the kind of processor. A product and a sum that follow each other may become one instruction
# (FMA) in kernels, which say how exact they are. Elsewhere they stay two, as they do on x86-64, whose baseline
# has no such instruction: what a program computes itself is then the same to the bit on each processor.
set(STOKER_X86_64 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(STOKER_X86_64 ON)
else()
  add_compile_options(-ffp-contract=off)
endif()

# What every target of ours is compiled with. Not part of what users of the libraries get.
add_library(stoker_settings INTERFACE)
target_compile_features(stoker_settings INTERFACE cxx_std_20)
target_compile_options(stoker_settings INTERFACE -Wall -Wextra)
# A test that fails names its source from the root, in whichever checkout ccache's object was compiled.
target_compile_options(stoker_settings INTERFACE "-fmacro-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/="
                                                 "-fmacro-prefix-map=${STOKER_INCLUDE_DIR}/stoker/=")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler looks for memory to use again when it has 600 MB, not 128: a tenth less time, and no more
  # memory for the largest sources.
  target_compile_options(stoker_settings INTERFACE --param=ggc-min-heapsize=600000)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about its own std::string (GCC bug 105651: as restrict, and as array-bounds where
  # headers are precompiled), takes an atomic behind a pointer that might be null for one of no
  # bytes, and follows a small_vector of one element to where it would hold more in place.
  target_compile_options(stoker_settings INTERFACE -Wno-restrict -Wno-array-bounds
                                                   -Wno-stringop-overflow -Wno-stringop-overread)
endif()
target_include_directories(stoker_settings INTERFACE "${STOKER_INCLUDE_DIR}"
                                                     "${STOKER_GENERATED_DIR}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # GCC's pragmas for loops, and & and | of truths, which loops without branches want.
  target_compile_options(stoker_settings INTERFACE -Wno-unknown-pragmas
                                                   -Wno-bitwise-instead-of-logical
                                                   -Wno-bitwise-conditional-parentheses)
endif()
if(STOKER_SANITIZE)
  list(JOIN STOKER_SANITIZE "," sanitizers)
  target_compile_options(stoker_settings INTERFACE -fsanitize=${sanitizers}
                                                   -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC loses track of what it instrumented.
    target_compile_options(stoker_settings INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(stoker_settings INTERFACE -fsanitize=${sanitizers})
endif()
