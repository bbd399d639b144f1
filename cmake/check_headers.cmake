# stoker_check_headers: compiles every header alone, so that each includes what it uses and its place among
# others' includes does not matter. "Alone" means: nothing stands before it but headers that it includes
# itself. So one compilation checks a chain of headers, each of which includes the one before, and most chains
# may begin with a precompiled header. Not part of a build of everything, but of `dev lint`; .ci/run compiles those
# that changed last (STOKER_CHECKED_HEADERS, paths from the root).
#
#   cmake --build build --target stoker_check_headers

stoker_glob(header_files runtime/*.hpp runtime/*/*.hpp kernels/*.hpp kernels/*/*.hpp device/*.hpp
            device/*/*.hpp device/*/*/*.hpp actors/*.hpp actors/*/*.hpp pipeline/*/*.hpp pipeline/*/*/*.hpp
            api/*.hpp api/*/*.hpp api/*/*/*.hpp)
if(NOT TARGET stoker_fiber)
  list(FILTER header_files EXCLUDE REGEX "/(runtime/process/fiber_adaptor|api/fiber)\\.hpp$")
endif()
if(NOT TARGET stoker_command)
  list(FILTER header_files EXCLUDE REGEX "/api/command_line/")
endif()
if(STOKER_BUILD_TESTS)
  stoker_glob(test_headers tests/*/*.hpp tests/*/*/*.hpp)
  # Includes the runtime under another name, so nothing of it may stand before, precompiled or not.
  list(FILTER test_headers EXCLUDE REGEX "/explorer/explored_runtime\\.hpp$")
  list(APPEND header_files ${test_headers})
endif()
if(STOKER_BUILD_BENCH)
  stoker_glob(bench_headers bench/*.hpp bench/*/*.hpp)
  list(APPEND header_files ${bench_headers})
endif()

# header_includes(H): sets includes_of_H to what H includes, directly or not, of `headers`.
function(header_includes name)
  if(DEFINED includes_of_${name})
    return()
  endif()
  set(all "")
  file(STRINGS "${name}" conditions REGEX "^# *if")
  if(NOT conditions)  # else it may not include what it names
    file(STRINGS "${name}" lines REGEX "^#include \"stoker/")
    foreach(line ${lines})
      string(REGEX REPLACE "^#include \"stoker/([^\"]*)\".*" "\\1" included "${line}")
      if(included IN_LIST headers)
        header_includes("${included}")
        list(APPEND all "${included}" ${includes_of_${included}})
      endif()
    endforeach()
  endif()
  list(REMOVE_DUPLICATES all)
  set(includes_of_${name} "${all}" PARENT_SCOPE)
endfunction()

# header_chains(): sets next_of_H to one of `checked` that includes H, for no two H the same one, and `firsts`
# to those that are no other's next.
macro(header_chains)
  set(firsts "")
  foreach(name ${checked})
    set(next_of_${name} "")
    header_includes("${name}")
  endforeach()
  foreach(name ${checked})
    set(first TRUE)
    foreach(before ${includes_of_${name}})
      if(before IN_LIST checked AND next_of_${before} STREQUAL "")
        set(next_of_${before} "${name}")
        set(first FALSE)
        break()
      endif()
    endforeach()
    if(first)
      list(APPEND firsts "${name}")
    endif()
  endforeach()
endmacro()

# Headers that many others include, and that take long to read: the first of them that a header includes is
# precompiled for it.
set(often_included api/tensor/core/tensor.hpp runtime/futures/future.hpp runtime/base/error.hpp)

# header_checks(TARGET): compiles those of `headers`, paths from the root, that are `checked`.
function(header_checks target)
  header_chains()
  add_custom_target(${target})
  foreach(name ${firsts})
    set(base "")
    foreach(candidate ${often_included})
      if(NOT base AND candidate IN_LIST includes_of_${name})
        set(base "${candidate}")
      endif()
    endforeach()
    set(content "")
    set(check "${STOKER_GENERATED_DIR}/header_checks/${name}.cpp")
    while(name)
      string(APPEND content "#include \"stoker/${name}\"\n")
      set(name "${next_of_${name}}")
    endwhile()
    file(CONFIGURE OUTPUT "${check}" @ONLY CONTENT "@content@")
    list(APPEND "checks_with_${base}" "${check}")
  endforeach()

  foreach(base "" ${often_included})
    if("${checks_with_${base}}" STREQUAL "")
      continue()
    endif()
    cmake_path(GET base STEM part)
    if(part STREQUAL "")
      set(part first)
    endif()
    header_check_library(${target}_${part} ${checks_with_${base}})
    if(base)
      stoker_precompile_only(${target}_${part} "<stoker/${base}>")
    endif()
    add_dependencies(${target} ${target}_${part})
  endforeach()
endfunction()

# header_check_library(TARGET SOURCES…)
function(header_check_library target)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  target_link_libraries(${target} PRIVATE stoker_settings stoker_stoker Boost::headers Eigen3::Eigen
                        DNNL::dnnl spdlog::spdlog nlohmann_json::nlohmann_json StokerGlslang::glslang
                        PkgConfig::LIBZIP PkgConfig::RE2 PkgConfig::LUA)
  if(TARGET stoker_command)
    target_link_libraries(${target} PRIVATE CLI11::CLI11)
  endif()
  if(STOKER_BUILD_TESTS)
    target_link_libraries(${target} PRIVATE GTest::gtest)
  endif()
  target_include_directories(${target} PRIVATE "${STOKER_VULKAN_INCLUDE}"
                             "${STOKER_CONCURRENTQUEUE_INCLUDE}" "${STOKER_DLPACK_INCLUDE}")
  # Headers of kernels stand in the namespace of the instruction set that they are compiled for. Code is
  # of no interest here.
  target_compile_definitions(${target} PRIVATE STOKER_ISA=isa_v1)
  target_compile_options(${target} PRIVATE -O0 -g0)
endfunction()

set(headers ${header_files})
list(TRANSFORM headers REPLACE "^${CMAKE_CURRENT_SOURCE_DIR}/" "")
set(checked "")
foreach(name ${headers})
  if(NOT STOKER_CHECKED_HEADERS OR name IN_LIST STOKER_CHECKED_HEADERS)
    list(APPEND checked "${name}")
  endif()
endforeach()
header_checks(stoker_check_headers)
