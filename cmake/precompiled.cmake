# Headers of others that most sources of a target include, parsed once instead of in each of them:
# parsing is half of what most sources take to compile. Sources still include what they
# use; `dev lint` and clangd read them without this (see .clangd), and so does
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON.

set(stoker_common_headers
    <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <functional> <map>
    <memory> <mutex> <optional> <span> <string> <string_view> <thread> <unordered_map> <utility>
    <variant> <vector> <boost/container/small_vector.hpp> <boost/smart_ptr/intrusive_ptr.hpp>
    <boost/system/result.hpp>)

# stoker_precompile(TARGET HEADERS…): the common headers, and these; or what another target has
# already precompiled with the same settings: stoker_precompile(TARGET REUSE_FROM OTHER).
function(stoker_precompile target)
  if(ARGV1 STREQUAL "REUSE_FROM")
    stoker_precompile_only(${target} ${ARGN})
  else()
    stoker_precompile_only(${target} ${stoker_common_headers} ${ARGN})
  endif()
endfunction()

# stoker_precompile_only(TARGET HEADERS…): the same without the common headers.
function(stoker_precompile_only target)
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache wants it
  endif()
endfunction()

# The objects of a target; CMake counts the precompiled header as one.
function(stoker_objects target out)
  set(${out} "$<FILTER:$<TARGET_OBJECTS:${target}>,EXCLUDE,[.](gch|pch)$>" PARENT_SCOPE)
endfunction()

# stoker_optimise_little(TARGET): for code that only calls what must be fast. It compiles a quarter
# sooner than with -O3.
function(stoker_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# stoker_optimise_small_functions(TARGET): for definitions, which plan a command in many small functions. It
# compiles twice as fast as -O3.
function(stoker_optimise_small_functions target)
  target_compile_options(
    ${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Release>:-finline-small-functions>
                      $<$<CONFIG:Release>:-findirect-inlining> $<$<CONFIG:Release>:-fpartial-inlining>)
endfunction()

# stoker_optimise_moderately(TARGET): for code that runs once a trace. What -O3 adds to -O2 wins nothing there.
function(stoker_optimise_moderately target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
endfunction()

# stoker_optimise_least(TARGET): for tests, most of whose code runs once. It compiles a quarter sooner than -O1.
function(stoker_optimise_least target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()
