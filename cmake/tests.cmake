# One binary for each folder of tests/ that holds *_test.cpp files: tests_runtime, tests_kernels, …

enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

stoker_glob(case_sources kernels/*/cases.cpp)
add_library(stoker_kernel_cases STATIC ${case_sources} "${STOKER_GENERATED_DIR}/suite_list.cpp")
target_link_libraries(stoker_kernel_cases PRIVATE stoker_settings PUBLIC stoker_core)
stoker_precompile(stoker_kernel_cases)
stoker_compile_together(stoker_kernel_cases 8)

# Cases of the ONNX standard, which the tests of `stoker onnx test` run.
set(onnx_cases "${CMAKE_CURRENT_SOURCE_DIR}/tests/onnx/cases/cases.tar.zst")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${onnx_cases}")
file(REMOVE_RECURSE "${CMAKE_CURRENT_BINARY_DIR}/onnx_cases")
file(ARCHIVE_EXTRACT INPUT "${onnx_cases}" DESTINATION "${CMAKE_CURRENT_BINARY_DIR}/onnx_cases")

set(first_tests "")
set(first_tests_of_tensors "")

# The components that the tests of a folder link, so that few objects stand between a change and its
# test. A folder that is not listed links all of them.
set(components_of_runtime core fiber)
set(components_of_device core)
set(components_of_actors core)
set(components_of_pipeline core glsl)
set(components_of_api core glsl)
set(components_of_conformance core)
set(components_of_vulkan core glsl)
set(components_of_tensor core glsl expr tensor)
set(components_of_nn core glsl expr tensor nn)
set(components_of_train core glsl expr tensor nn script tensor_script nn_script)
set(components_of_data core glsl expr tensor nn)
set(components_of_model core glsl expr tensor nn onnx script nn_script model)
set(components_of_serve core glsl expr tensor nn onnx script nn_script model serve serve_http)
set(components_of_serve_grpc core glsl expr tensor nn onnx script nn_script model serve serve_grpc)
set(components_of_onnx core glsl expr tensor onnx)
set(components_of_onnx_library core glsl expr tensor onnx)
set(components_of_script core glsl expr tensor script tensor_script)
set(components_of_fuzz core glsl expr tensor nn onnx script nn_script model serve serve_http)
# The folders whose tests are about tensors: their headers are precompiled, too.
set(folders_of_tensors data fuzz guides model nn serve serve_grpc tensor train)
if(NOT STOKER_SEPARATED_ISAS)  # else isa_test.cpp looks at the objects of all of them
  set(components_of_kernels core glsl)
endif()
# The folders whose tests run the stoker command.
set(folders_with_command cli guides)

file(GLOB test_folders CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/tests"
     "${CMAKE_CURRENT_SOURCE_DIR}/tests/*")
foreach(folder ${test_folders})
  stoker_glob(test_sources tests/${folder}/*_test.cpp tests/${folder}/*/*_test.cpp)
  if(NOT test_sources OR (folder STREQUAL "serve_grpc" AND NOT STOKER_GRPC_FOUND))
    continue()
  endif()
  # Other sources in the folder are helpers of its tests.
  stoker_glob(test_sources tests/${folder}/*.cpp tests/${folder}/*/*.cpp)
  list(FILTER test_sources EXCLUDE REGEX "/tests/runtime/static_library/")
  if(NOT STOKER_BUILD_EXAMPLES)
    list(FILTER test_sources EXCLUDE REGEX "/tests/guides/model_examples_test\\.cpp$")  # it runs two of them
  endif()
  if(NOT STOKER_GRPC_FOUND)
    list(FILTER test_sources EXCLUDE REGEX "/tests/guides/grpc_test\\.cpp$")
  endif()
  if(folder MATCHES "^(nn|train)$")
    stoker_glob(shared_helpers tests/tensor/differences.cpp)  # gradients are compared here, too
    list(APPEND test_sources ${shared_helpers})
  endif()
  if(folder STREQUAL "train")
    stoker_glob(shared_helpers tests/nn/golden_run.cpp)
    list(APPEND test_sources ${shared_helpers})
  endif()
  if(folder MATCHES "^(device|onnx|serve|tensor)$")
    stoker_glob(failing_allocation tests/actors/failing_allocation.cpp)
    list(APPEND test_sources ${failing_allocation})
  endif()
  if(folder STREQUAL "serve")
    stoker_glob(access_log api/command_line/serve/access_log.cpp api/command_line/one_line.cpp)
    list(APPEND test_sources ${access_log})
  endif()
  set(components ${STOKER_COMPONENTS})
  if(components_of_${folder})
    set(components ${components_of_${folder}})
  endif()
  list(TRANSFORM components PREPEND stoker_)
  if(folder STREQUAL "fuzz")
    list(FILTER test_sources EXCLUDE REGEX "/libfuzzer\\.cpp$")  # the other main program
    list(APPEND test_sources "${stoker_fuzz_list}")
  endif()
  add_executable(tests_${folder} ${test_sources})
  if(NOT folder STREQUAL "guides")  # programs that stand in guides, each whole
    list(LENGTH test_sources count)
    math(EXPR groups "${count} / 16 * 2 + 2")  # in steps: one more test leaves most groups as they are
    stoker_compile_together(tests_${folder} ${groups})
  endif()
  target_link_libraries(
    tests_${folder} PRIVATE stoker_settings ${components} stoker_kernel_cases stoker_checkout GTest::gtest
                            GTest::gtest_main spdlog::spdlog nlohmann_json::nlohmann_json
                            DNNL::dnnl Boost::context PkgConfig::LUA Eigen3::Eigen ZLIB::ZLIB OpenSSL::SSL
                            ${CMAKE_DL_LIBS})
  if(folder STREQUAL "serve_grpc")
    target_link_libraries(tests_serve_grpc PRIVATE PkgConfig::STOKER_GRPC)
  endif()
  target_include_directories(tests_${folder} PRIVATE "${STOKER_VULKAN_INCLUDE}"
                                                     "${STOKER_CONCURRENTQUEUE_INCLUDE}"
                                                     "${STOKER_DLPACK_INCLUDE}")
  stoker_optimise_least(tests_${folder})
  if(folder IN_LIST folders_of_tensors)
    set(first first_tests_of_tensors)
    set(headers <stoker/api/tensor.hpp>)
  else()
    set(first first_tests)
    set(headers "")
  endif()
  if(${first})
    stoker_precompile(tests_${folder} REUSE_FROM ${${first}})
  else()
    set(${first} tests_${folder})
    stoker_precompile(tests_${folder} <gtest/gtest.h> <boost/asio/io_context.hpp>
                      <boost/asio/post.hpp> ${headers})
  endif()
  set(surroundings "")
  if(folder MATCHES "^(cli|conformance|kernels|model|nn|onnx|serve|tensor|train)$" AND STOKER_SANITIZE STREQUAL "thread")
    # lavapipe's LLVM holds more locks at once (64) than the detector of deadlocks can count.
    set(surroundings ENVIRONMENT_MODIFICATION "TSAN_OPTIONS=string_append::detect_deadlocks=0")
  endif()
  gtest_discover_tests(tests_${folder} DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS ${folder} TIMEOUT 300 ${surroundings})
endforeach()
# Debian's libonnx, which tests/onnx_library runs beside Stoker's reader.
find_path(STOKER_LIBONNX_INCLUDE onnx/onnx_pb.h)
find_path(STOKER_PROTOBUF_INCLUDE google/protobuf/message.h)
find_library(STOKER_LIBONNX onnx)
find_library(STOKER_LIBONNX_PROTO onnx_proto)
find_library(STOKER_PROTOBUF protobuf)
mark_as_advanced(STOKER_LIBONNX_INCLUDE STOKER_PROTOBUF_INCLUDE STOKER_LIBONNX STOKER_LIBONNX_PROTO
                 STOKER_PROTOBUF)
if(STOKER_LIBONNX_INCLUDE AND STOKER_PROTOBUF_INCLUDE AND STOKER_LIBONNX AND STOKER_LIBONNX_PROTO
   AND STOKER_PROTOBUF)
  set_property(SOURCE tests/onnx_library/node_counts_test.cpp PROPERTY COMPILE_DEFINITIONS
                                                                       STOKER_LIBONNX=1)
  target_link_libraries(tests_onnx_library PRIVATE "${STOKER_LIBONNX}" "${STOKER_LIBONNX_PROTO}"
                                                   "${STOKER_PROTOBUF}")
endif()
# Those of the explorer compile sources of the runtime once more, under another name.
stoker_glob(explored tests/runtime/explorer/*.cpp tests/runtime/*/*_explored_test.cpp)
stoker_compile_alone(
  ${explored} tests/nn/layers/recurrent_test.cpp tests/tensor/math/convolution_test.cpp
  tests/actors/failing_allocation.cpp        # all operators new and delete
  tests/nn/graph/open_namespaces_test.cpp    # opens two of them for what follows
  # names that others have, too
  tests/nn/functional/golden_metrics_test.cpp tests/nn/layers/golden_layers_test.cpp
  tests/device/cpu/cpu_lifetime_test.cpp tests/runtime/execution/deferred_wakes_test.cpp)
# For tests/runtime/base/kept_statics_test.cpp: one library, linked in three ways.
set(linked_lazy -Wl,-z,relro -Wl,-z,lazy)
set(linked_now -Wl,-z,relro -Wl,-z,now)
set(linked_no_plt ${linked_lazy})
foreach(way lazy now no_plt)
  add_library(static_library_${way} MODULE tests/runtime/static_library/library.cpp)
  target_link_options(static_library_${way} PRIVATE ${linked_${way}})
  set_target_properties(
    static_library_${way} PROPERTIES PREFIX "" OUTPUT_NAME ${way} SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY
                                     "${CMAKE_CURRENT_BINARY_DIR}/static_libraries")
  add_dependencies(tests_runtime static_library_${way})
endforeach()
target_compile_options(static_library_no_plt PRIVATE -fno-plt)
set_property(SOURCE tests/runtime/base/kept_statics_test.cpp
             PROPERTY COMPILE_DEFINITIONS
                      STOKER_STATIC_LIBRARIES="${CMAKE_CURRENT_BINARY_DIR}/static_libraries/")

if(TARGET stoker_command)
  foreach(folder ${folders_with_command})
    add_dependencies(tests_${folder} stoker_command stoker_train stoker_run stoker_ops stoker_layers stoker_onnx_command stoker_predict stoker_serve_command)
  endforeach()
endif()

if(STOKER_BUILD_EXAMPLES)
  add_dependencies(tests_guides example_onnx_faces example_onnx_speech)
endif()

# For tests/kernels/isa_test.cpp: the objects that must run on any processor, and which sets were built.
list(JOIN STOKER_ISAS " " served)
list(JOIN STOKER_SEPARATED_ISAS " " separated)
set_property(SOURCE tests/kernels/isa_test.cpp
             PROPERTY COMPILE_DEFINITIONS STOKER_SERVED_ISAS="${served}"
                      STOKER_SEPARATED_ISAS="${separated}")
if(STOKER_SEPARATED_ISAS)
  set(objects "")
  foreach(target stoker_definitions stoker_cpu_v1 stoker_glsl_objects ${all_components})
    if(TARGET ${target})
      stoker_objects(${target} of_target)
      list(APPEND objects "${of_target}")
    endif()
  endforeach()
  file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/baseline_objects.txt"
       CONTENT "$<JOIN:$<FILTER:$<REMOVE_DUPLICATES:${objects}>,EXCLUDE,/cpu_v[34]\\.o$>,\n>\n")
endif()

# A tiny program against an installed, moved copy, and against the source tree.
if(STOKER_INSTALL AND NOT STOKER_SANITIZE AND EXISTS
                      "${CMAKE_CURRENT_SOURCE_DIR}/tests/install/check.cmake")
  add_test(NAME install.consumer_builds_against_a_moved_copy
           COMMAND "${CMAKE_COMMAND}" -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}
                   -DBUILD=${CMAKE_CURRENT_BINARY_DIR} -DGENERATOR=${CMAKE_GENERATOR}
                   -DCOMPILER=${CMAKE_CXX_COMPILER} -P
                   "${CMAKE_CURRENT_SOURCE_DIR}/tests/install/check.cmake")
  set_tests_properties(install.consumer_builds_against_a_moved_copy
                       PROPERTIES LABELS install TIMEOUT 900 COST 1000)  # the longest begins first
endif()

# Rules that the sources and the libraries keep.
add_test(NAME rules.public_headers_are_those_listed
         COMMAND "${CMAKE_COMMAND}" -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}
                 -DLIST=${CMAKE_CURRENT_SOURCE_DIR}/cmake/public_headers.txt -DCOMPARE=1 -P
                 "${CMAKE_CURRENT_SOURCE_DIR}/cmake/public_headers.cmake")
add_test(NAME rules.sources_keep_the_rules
         COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/cmake/lint_rules.sh")
add_test(NAME rules.sources_are_formatted
         COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/cmake/check_format.sh")
set_tests_properties(rules.sources_are_formatted PROPERTIES SKIP_RETURN_CODE 77)
set(libraries "")
foreach(component ${STOKER_COMPONENTS})
  list(APPEND libraries "$<TARGET_FILE:stoker_${component}>")
endforeach()
list(JOIN libraries "," libraries)
add_test(NAME rules.libraries_never_end_their_process
         COMMAND "${CMAKE_COMMAND}" -DLIBRARIES=${libraries} -DNM=${CMAKE_NM} -P
                 "${CMAKE_CURRENT_SOURCE_DIR}/cmake/check_no_exit.cmake")
set_tests_properties(rules.public_headers_are_those_listed rules.sources_keep_the_rules
                     rules.sources_are_formatted rules.libraries_never_end_their_process
                     PROPERTIES LABELS rules)
