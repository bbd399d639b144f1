# stoker_check_headers: compiles every header alone, without precompiled headers, so that each includes
# what it uses and its place among others' includes does not matter. Not part of a build of everything:
#
#   cmake --build build --target stoker_check_headers
#
# stoker_check_public_headers does so with those that are installed; .ci/run has them checked.

stoker_glob(checked_headers runtime/*.hpp runtime/*/*.hpp kernels/*.hpp kernels/*/*.hpp device/*.hpp
            device/*/*.hpp device/*/*/*.hpp actors/*.hpp actors/*/*.hpp pipeline/*/*.hpp pipeline/*/*/*.hpp
            api/*.hpp api/*/*.hpp api/*/*/*.hpp)
if(NOT TARGET stoker_fiber)
  list(FILTER checked_headers EXCLUDE REGEX "/(runtime/process/fiber_adaptor|api/fiber)\\.hpp$")
endif()
if(NOT TARGET stoker_command)
  list(FILTER checked_headers EXCLUDE REGEX "/api/command_line/")
endif()
if(STOKER_BUILD_TESTS)
  stoker_glob(test_headers tests/*/*.hpp tests/*/*/*.hpp)
  list(APPEND checked_headers ${test_headers})
endif()
if(STOKER_BUILD_BENCH)
  stoker_glob(bench_headers bench/*.hpp bench/*/*.hpp)
  list(APPEND checked_headers ${bench_headers})
endif()

# header_checks(TARGET HEADERS…): paths from the root.
function(header_checks target)
  set(checks "")
  foreach(name ${ARGN})
    set(included "stoker/${name}")
    if(name MATCHES "^(tests|bench)/")
      set(included "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
    endif()
    set(check "${STOKER_GENERATED_DIR}/header_checks/${name}.cpp")
    file(CONFIGURE OUTPUT "${check}" @ONLY CONTENT "#include \"@included@\"\n")
    list(APPEND checks "${check}")
  endforeach()

  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${checks})
  set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  target_link_libraries(${target} PRIVATE stoker_settings stoker_stoker Boost::headers Eigen3::Eigen
                        DNNL::dnnl spdlog::spdlog nlohmann_json::nlohmann_json StokerGlslang::glslang
                        PkgConfig::LIBZIP PkgConfig::LUA)
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

list(TRANSFORM checked_headers REPLACE "^${CMAKE_CURRENT_SOURCE_DIR}/" "")
file(STRINGS cmake/public_headers.txt public)
set(checked_public ${checked_headers})
list(REMOVE_ITEM checked_headers ${public})
list(REMOVE_ITEM checked_public ${checked_headers})
header_checks(stoker_private_header_checks ${checked_headers})
header_checks(stoker_public_header_checks ${checked_public})
add_custom_target(stoker_check_public_headers DEPENDS stoker_public_header_checks)
add_custom_target(stoker_check_headers DEPENDS stoker_public_header_checks stoker_private_header_checks)
