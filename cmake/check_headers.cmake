# stoker_check_headers: compiles every header alone, without precompiled headers, so that each includes
# what it uses and its place among others' includes does not matter. Not part of a build of everything:
#
#   cmake --build build --target stoker_check_headers

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

set(checks "")
foreach(header ${checked_headers})
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE name)
  set(included "stoker/${name}")
  if(name MATCHES "^(tests|bench)/")
    set(included "${header}")
  endif()
  set(check "${STOKER_GENERATED_DIR}/header_checks/${name}.cpp")
  file(CONFIGURE OUTPUT "${check}" @ONLY CONTENT "#include \"@included@\"\n")
  list(APPEND checks "${check}")
endforeach()

add_library(stoker_header_checks OBJECT EXCLUDE_FROM_ALL ${checks})
set_target_properties(stoker_header_checks PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
target_link_libraries(stoker_header_checks PRIVATE stoker_settings stoker_stoker Boost::headers
                      Eigen3::Eigen DNNL::dnnl spdlog::spdlog nlohmann_json::nlohmann_json
                      StokerGlslang::glslang PkgConfig::LIBZIP PkgConfig::LUA)
if(TARGET stoker_command)
  target_link_libraries(stoker_header_checks PRIVATE CLI11::CLI11)
endif()
if(STOKER_BUILD_TESTS)
  target_link_libraries(stoker_header_checks PRIVATE GTest::gtest)
endif()
target_include_directories(
  stoker_header_checks PRIVATE "${STOKER_VULKAN_INCLUDE}" "${STOKER_CONCURRENTQUEUE_INCLUDE}"
                               "${STOKER_DLPACK_INCLUDE}")
# Headers of kernels stand in the namespace of the instruction set that they are compiled for. Code is
# of no interest here.
target_compile_definitions(stoker_header_checks PRIVATE STOKER_ISA=isa_v1)
target_compile_options(stoker_header_checks PRIVATE -O0 -g0)
add_custom_target(stoker_check_headers DEPENDS stoker_header_checks)
