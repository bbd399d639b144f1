# The libraries, one component each, and the stoker command.
#
#   Stoker::core     runtime, kernels, devices, actors, pipelines, api
#   Stoker::glsl     run-time GLSL compiler, for user kernels
#   Stoker::fiber    for callers who live in Boost.Fiber
#   Stoker::expr     the lazy graph under tensors and scripts, and its compiler
#   Stoker::tensor   tensors: lazy, fused, differentiable
#   Stoker::nn       layers, networks, optimizers
#   Stoker::onnx     ONNX models
#   Stoker::script   Lua scripts
#   Stoker::tensor_script  the functions of tensors for Lua scripts
#   Stoker::nn_script  Lua scripts that describe a training or use a model
#   Stoker::model    models of any kind behind one interface, in C++ and in scripts
#   Stoker::serve    batches of requests of many callers
#   Stoker::serve_http  models over HTTP
#   Stoker::stoker   all of them

# stoker_library(NAME SOURCES…): the target stoker_NAME with the alias Stoker::NAME.
function(stoker_library name)
  set(target stoker_${name})
  add_library(${target} ${ARGN})
  add_library(Stoker::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:stoker_settings>)
  target_include_directories(
    ${target} PUBLIC "$<BUILD_INTERFACE:${STOKER_INCLUDE_DIR}>" "$<BUILD_INTERFACE:${STOKER_GENERATED_DIR}>"
                     "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  if(STOKER_SANITIZE)
    target_link_options(${target} PUBLIC "$<BUILD_INTERFACE:-fsanitize=$<JOIN:${STOKER_SANITIZE},$<COMMA>>>")
  endif()
endfunction()

include(GNUInstallDirs)

# Definitions of kernels, in an object library of their own because stoker-shaders, which has to run
# before core is complete, needs them too.
stoker_glob(kernel_sources kernels/*.cpp kernels/*/*.cpp)
list(FILTER kernel_sources EXCLUDE REGEX "/kernels/(glsl|shader_tool)/|/(cases|cpu|[^/]*_cpu)\\.cpp$")
list(FILTER kernel_sources EXCLUDE REGEX "/kernels/(cpu_table|shader/spirv|fused/(kernel|reduction|product))\\.cpp$")
stoker_glob(base_sources runtime/base/cores.cpp runtime/base/error.cpp runtime/base/dtype.cpp runtime/base/shape.cpp
            runtime/base/exit_watch.cpp runtime/base/fork_delay.cpp runtime/base/process_mutex.cpp
            runtime/base/nearest_name.cpp)
add_library(stoker_definitions OBJECT ${kernel_sources} ${base_sources}
                                      "${STOKER_GENERATED_DIR}/kernel_list.cpp")
target_link_libraries(stoker_definitions PRIVATE stoker_settings Boost::headers)
stoker_precompile(stoker_definitions)
stoker_optimise_small_functions(stoker_definitions)
# Small files that include much. Scalar functions are families in one namespace.
stoker_compile_together(stoker_definitions 20)
stoker_glob(scalar_sources kernels/scalar/*.cpp)
stoker_compile_alone(${scalar_sources} runtime/base/exit_watch.cpp runtime/base/process_mutex.cpp)
# Shaders that are put together at run time take in the texts of others, as literals.
foreach(folder matmul conv reduce)
  set(literals "")
  stoker_glob(shader_texts kernels/${folder}/*.glsl)
  foreach(file ${shader_texts})
    get_filename_component(name "${file}" NAME)
    set(literal "${STOKER_GENERATED_DIR}/stoker/kernels/${folder}/${name}.inc")
    add_custom_command(
      OUTPUT "${literal}"
      COMMAND "${CMAKE_COMMAND}" "-DTEXT=${file}" "-DLITERAL=${literal}"
              "-DKERNELS=${CMAKE_CURRENT_SOURCE_DIR}/kernels" -P
              "${CMAKE_CURRENT_SOURCE_DIR}/cmake/text_literal.cmake"
      DEPENDS ${shader_texts} cmake/text_literal.cmake
      VERBATIM COMMENT "Taking in kernels/${folder}/${name}")
    list(APPEND literals "${literal}")
  endforeach()
  set_source_files_properties(kernels/${folder}/shader_sources.cpp PROPERTIES OBJECT_DEPENDS "${literals}")
endforeach()

stoker_glob(core_sources runtime/*.cpp runtime/*/*.cpp device/*.cpp device/*/*.cpp device/*/*/*.cpp
            actors/*.cpp actors/*/*.cpp pipeline/kernel_graph/*.cpp pipeline/image/*.cpp api/*.cpp
            api/observe/*.cpp kernels/cpu_table.cpp kernels/shader/spirv.cpp kernels/fused/kernel.cpp
            kernels/fused/reduction.cpp kernels/fused/product.cpp)
list(REMOVE_ITEM core_sources ${base_sources} "${CMAKE_CURRENT_SOURCE_DIR}/runtime/process/fiber_adaptor.cpp")
stoker_objects(stoker_definitions definition_objects)
stoker_library(core ${core_sources} ${definition_objects} ${STOKER_CPU_OBJECTS}
               "${STOKER_GENERATED_DIR}/driver_list.cpp")
target_link_libraries(
  stoker_core
  PUBLIC Boost::headers Threads::Threads
  PRIVATE Boost::context spdlog::spdlog DNNL::dnnl PNG::PNG PkgConfig::TURBOJPEG ${CMAKE_DL_LIBS}
          $<BUILD_INTERFACE:Eigen3::Eigen> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
target_include_directories(stoker_core PRIVATE "${STOKER_VULKAN_INCLUDE}"
                                               "${STOKER_CONCURRENTQUEUE_INCLUDE}")
stoker_precompile(stoker_core <boost/asio/any_io_executor.hpp>)
stoker_compile_together(stoker_core 42)

stoker_glob(glsl_sources kernels/glsl/*.cpp)
add_library(stoker_glsl_objects OBJECT ${glsl_sources})
target_link_libraries(stoker_glsl_objects PRIVATE stoker_settings Boost::headers)
if(STOKER_SANITIZE)
  # glslang is compiled without type information, which this check reads.
  set_source_files_properties(kernels/glsl/frontend.cpp PROPERTIES COMPILE_OPTIONS
                                                                   -fno-sanitize=vptr)
endif()
stoker_library(glsl $<TARGET_OBJECTS:stoker_glsl_objects>)
target_link_libraries(stoker_glsl PUBLIC stoker_core PRIVATE StokerGlslang::glslang)
set_target_properties(stoker_glsl PROPERTIES LINKER_LANGUAGE CXX)

set(STOKER_COMPONENTS core glsl)
if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/runtime/process/fiber_adaptor.cpp")
  stoker_library(fiber runtime/process/fiber_adaptor.cpp)
  target_link_libraries(stoker_fiber PUBLIC stoker_core Boost::fiber)
  list(APPEND STOKER_COMPONENTS fiber)
endif()
# Apart from tensors, because scripts stand on it, too.
stoker_glob(expr_sources pipeline/tensor/*/*.cpp)
list(FILTER expr_sources EXCLUDE REGEX "/pipeline/tensor/files/")
stoker_library(expr ${expr_sources} "${STOKER_GENERATED_DIR}/op_list.cpp")
target_link_libraries(stoker_expr PUBLIC stoker_core PRIVATE stoker_glsl)
stoker_precompile(stoker_expr)
stoker_compile_together(stoker_expr 13)
stoker_optimise_moderately(stoker_expr)
list(APPEND STOKER_COMPONENTS expr)
stoker_glob(tensor_sources pipeline/tensor/files/*.cpp api/tensor/*/*.cpp)
stoker_library(tensor ${tensor_sources})
target_link_libraries(
  stoker_tensor PUBLIC stoker_core stoker_expr
  PRIVATE stoker_glsl PkgConfig::LIBZIP $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
target_include_directories(stoker_tensor PRIVATE "${STOKER_DLPACK_INCLUDE}")
stoker_precompile(stoker_tensor REUSE_FROM stoker_expr)
stoker_compile_together(stoker_tensor 10)
stoker_optimise_moderately(stoker_tensor)
list(APPEND STOKER_COMPONENTS tensor)
stoker_glob(nn_sources api/nn/*/*.cpp api/data/*.cpp api/train/*/*.cpp)
list(FILTER nn_sources EXCLUDE REGEX "/api/train/script/")
stoker_library(nn ${nn_sources} "${STOKER_GENERATED_DIR}/layer_list.cpp")
target_link_libraries(stoker_nn PUBLIC stoker_tensor
                      PRIVATE ZLIB::ZLIB $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
stoker_precompile(stoker_nn <stoker/api/tensor.hpp>)
stoker_compile_together(stoker_nn 16)
stoker_compile_alone(api/train/loop/fit_run.cpp api/nn/graph/initializer.cpp)
stoker_optimise_little(stoker_nn)
list(APPEND STOKER_COMPONENTS nn)
stoker_glob(onnx_sources pipeline/protobuf/*.cpp pipeline/onnx/*/*.cpp api/onnx/*/*.cpp api/onnx/*/*/*.cpp)
stoker_library(onnx ${onnx_sources} "${STOKER_GENERATED_DIR}/onnx_operator_list.cpp"
               "${STOKER_GENERATED_DIR}/onnx_pass_list.cpp" "${STOKER_GENERATED_DIR}/onnx_export_list.cpp")
target_link_libraries(stoker_onnx PUBLIC stoker_tensor PRIVATE PkgConfig::RE2)
stoker_precompile(stoker_onnx REUSE_FROM stoker_nn)
stoker_compile_together(stoker_onnx 14)
stoker_optimise_little(stoker_onnx)
# These name what is theirs as others do.
set(alone graph/node reading/tensor_reader reading/value_reader writing/value_writer)
list(TRANSFORM alone REPLACE "(.+)" "pipeline/onnx/\\1.cpp")
stoker_compile_alone(${alone})
list(APPEND STOKER_COMPONENTS onnx)
stoker_glob(script_sources pipeline/script/*/*.cpp api/script/*.cpp)
if(script_sources)
  stoker_library(script ${script_sources})
  target_link_libraries(stoker_script PUBLIC stoker_core stoker_expr PRIVATE stoker_glsl PkgConfig::LUA
                                                                             spdlog::spdlog)
  stoker_precompile(stoker_script)
  stoker_compile_together(stoker_script 7)
  stoker_optimise_little(stoker_script)
  list(APPEND STOKER_COMPONENTS script)
  # Apart from scripts, which need no functions of tensors.
  stoker_glob(tensor_script_sources api/script/functions/*.cpp)
  stoker_library(tensor_script ${tensor_script_sources})
  target_link_libraries(stoker_tensor_script PUBLIC stoker_tensor stoker_script PRIVATE PkgConfig::LUA)
  stoker_precompile(stoker_tensor_script REUSE_FROM stoker_nn)
  stoker_compile_together(stoker_tensor_script 4)
  stoker_optimise_little(stoker_tensor_script)
  list(APPEND STOKER_COMPONENTS tensor_script)
  stoker_glob(nn_script_sources api/train/script/*.cpp)
  stoker_library(nn_script ${nn_script_sources})
  target_link_libraries(stoker_nn_script PUBLIC stoker_nn stoker_tensor_script PRIVATE PkgConfig::LUA)
  stoker_precompile(stoker_nn_script REUSE_FROM stoker_nn)
  stoker_compile_together(stoker_nn_script 4)
  stoker_optimise_little(stoker_nn_script)
  list(APPEND STOKER_COMPONENTS nn_script)
  stoker_glob(model_sources api/model/*/*.cpp)
  stoker_library(model ${model_sources})
  target_link_libraries(stoker_model PUBLIC stoker_nn_script stoker_onnx PRIVATE PkgConfig::LUA)
  stoker_precompile(stoker_model REUSE_FROM stoker_nn)
  stoker_compile_together(stoker_model 5)
  stoker_optimise_little(stoker_model)
  list(APPEND STOKER_COMPONENTS model)
  stoker_glob(serve_sources api/serve/*.cpp api/serve/*/*.cpp)
  list(FILTER serve_sources EXCLUDE REGEX "/api/serve/(http|grpc)/")
  stoker_library(serve ${serve_sources})
  target_link_libraries(stoker_serve PUBLIC stoker_model
                        PRIVATE $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  stoker_precompile(stoker_serve REUSE_FROM stoker_expr)
  stoker_compile_together(stoker_serve 3)
  stoker_optimise_moderately(stoker_serve)
  list(APPEND STOKER_COMPONENTS serve)
  # Apart from servings, because Boost.Beast is much to compile.
  stoker_glob(serve_http_sources api/serve/http/*.cpp api/serve/http/*/*.cpp)
  stoker_library(serve_http ${serve_http_sources})
  # The page takes in its sources as literals.
  set(literals "")
  foreach(name page.html page.css page.js)
    set(file "${CMAKE_CURRENT_SOURCE_DIR}/api/serve/http/page/${name}")
    set(literal "${STOKER_GENERATED_DIR}/stoker/api/serve/http/page/${name}.inc")
    add_custom_command(
      OUTPUT "${literal}"
      COMMAND "${CMAKE_COMMAND}" "-DTEXT=${file}" "-DLITERAL=${literal}" -P
              "${CMAKE_CURRENT_SOURCE_DIR}/cmake/text_literal.cmake"
      DEPENDS "${file}" cmake/text_literal.cmake
      VERBATIM COMMENT "Taking in api/serve/http/page/${name}")
    list(APPEND literals "${literal}")
  endforeach()
  set_source_files_properties(api/serve/http/page/page_texts.cpp PROPERTIES OBJECT_DEPENDS "${literals}")
  target_link_libraries(stoker_serve_http PUBLIC stoker_serve
                        PRIVATE OpenSSL::SSL ZLIB::ZLIB $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  stoker_precompile(stoker_serve_http REUSE_FROM stoker_expr)
  stoker_compile_together(stoker_serve_http 7)
  stoker_compile_alone(api/serve/http/server/tls_stream.cpp)
  stoker_optimise_moderately(stoker_serve_http)
  list(APPEND STOKER_COMPONENTS serve_http)
  if(STOKER_GRPC_FOUND)
    stoker_glob(serve_grpc_sources api/serve/grpc/*.cpp)
    stoker_library(serve_grpc ${serve_grpc_sources})
    target_link_libraries(stoker_serve_grpc PUBLIC stoker_serve PRIVATE PkgConfig::STOKER_GRPC)
    stoker_precompile(stoker_serve_grpc REUSE_FROM stoker_expr)
    stoker_compile_together(stoker_serve_grpc 2)
    stoker_optimise_moderately(stoker_serve_grpc)
    list(APPEND STOKER_COMPONENTS serve_grpc)
  endif()
endif()

add_library(stoker_stoker INTERFACE)
add_library(Stoker::stoker ALIAS stoker_stoker)
set_target_properties(stoker_stoker PROPERTIES EXPORT_NAME stoker)
list(TRANSFORM STOKER_COMPONENTS PREPEND stoker_ OUTPUT_VARIABLE all_components)
target_link_libraries(stoker_stoker INTERFACE ${all_components})

# The command is several programs, so that a script that needs neither models nor the functions of tensors runs as
# soon as one of them is built: a verb that needs more is a program of its own, stoker-VERB, which `stoker VERB`
# becomes (api/command_line/program.hpp). `stoker run` does, where stoker-run is there.
if(STOKER_BUILD_COMMAND AND script_sources)
  find_package(CLI11 REQUIRED)
  # stoker_program(TARGET NAME FOLDER SOURCES…): a program that is installed in FOLDER.
  function(stoker_program target name folder)
    add_executable(${target} ${ARGN})
    file(RELATIVE_PATH libraries "/${folder}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
                          INSTALL_RPATH "$ORIGIN/${libraries}")
    target_link_libraries(${target} PRIVATE stoker_command_parts)
    stoker_optimise_little(${target})
  endfunction()
  set(STOKER_LIBEXEC "${CMAKE_INSTALL_LIBEXECDIR}/stoker")
  set(folder api/command_line)
  stoker_program(stoker_command stoker "${CMAKE_INSTALL_BINDIR}" ${folder}/main.cpp)
  stoker_program(stoker_train stoker-train "${STOKER_LIBEXEC}" ${folder}/train_main.cpp
                 ${folder}/verbs/train.cpp ${folder}/training_files.cpp)
  target_link_libraries(stoker_train PRIVATE stoker_nn_script)
  stoker_program(stoker_run stoker-run "${STOKER_LIBEXEC}" ${folder}/run_main.cpp
                 ${folder}/verbs/model_run.cpp)
  target_link_libraries(stoker_run PRIVATE stoker_model)
  stoker_program(stoker_ops stoker-ops "${STOKER_LIBEXEC}" ${folder}/ops_main.cpp ${folder}/verbs/ops.cpp)
  target_link_libraries(stoker_ops PRIVATE stoker_tensor_script)
  stoker_program(stoker_layers stoker-layers "${STOKER_LIBEXEC}" ${folder}/layers_main.cpp
                 ${folder}/verbs/layers.cpp)
  target_link_libraries(stoker_layers PRIVATE stoker_nn)
  stoker_program(stoker_onnx_command stoker-onnx "${STOKER_LIBEXEC}" ${folder}/onnx/onnx_main.cpp
                 ${folder}/verbs/onnx.cpp ${folder}/onnx/onnx_cases.cpp ${folder}/onnx/onnx_info.cpp
                 ${folder}/onnx/onnx_plan.cpp ${folder}/onnx/onnx_shapes.cpp ${folder}/onnx/onnx_bench.cpp
                 ${folder}/onnx/onnx_batching.cpp ${folder}/onnx/onnx_export.cpp ${folder}/onnx/onnx_options.cpp
                 ${folder}/predict/input_value.cpp)
  target_link_libraries(stoker_onnx_command PRIVATE stoker_serve)
  stoker_compile_together(stoker_onnx_command 3)
  stoker_program(stoker_predict stoker-predict "${STOKER_LIBEXEC}" ${folder}/predict/predict_main.cpp
                 ${folder}/verbs/predict.cpp ${folder}/predict/predict_inputs.cpp
                 ${folder}/predict/predict_outputs.cpp ${folder}/predict/input_value.cpp)
  target_link_libraries(stoker_predict PRIVATE stoker_model)
  stoker_compile_together(stoker_predict 2)
  stoker_program(stoker_serve_command stoker-serve "${STOKER_LIBEXEC}" ${folder}/serve/serve_main.cpp
                 ${folder}/verbs/serve.cpp ${folder}/serve/access_log.cpp ${folder}/serve/grpc_port.cpp
                 ${folder}/serve/reloads.cpp ${folder}/serve/served_repository.cpp)
  target_link_libraries(stoker_serve_command PRIVATE stoker_serve_http)
  if(TARGET stoker_serve_grpc)
    target_link_libraries(stoker_serve_command PRIVATE stoker_serve_grpc)
    set_source_files_properties(${folder}/serve/grpc_port.cpp PROPERTIES COMPILE_DEFINITIONS STOKER_WITH_GRPC=1)
  endif()

  stoker_glob(command_sources ${folder}/*.cpp ${folder}/words/*.cpp ${folder}/verbs/*.cpp)
  list(FILTER command_sources EXCLUDE REGEX "/(main|train_main|train|training_files|run_main|model_run|ops_main|ops|layers_main|layers|onnx)\\.cpp$")
  list(FILTER command_sources EXCLUDE REGEX "/(predict|serve)\\.cpp$")
  add_library(stoker_command_parts STATIC ${command_sources})
  target_link_libraries(
    stoker_command_parts PUBLIC stoker_settings stoker_script stoker_core CLI11::CLI11
                                nlohmann_json::nlohmann_json spdlog::spdlog)
  file(RELATIVE_PATH libexec_from_bin "/${CMAKE_INSTALL_BINDIR}" "/${STOKER_LIBEXEC}")
  target_compile_definitions(stoker_command_parts PRIVATE STOKER_LIBEXEC_FROM_BIN="${libexec_from_bin}")
  stoker_optimise_little(stoker_command_parts)
  stoker_precompile(stoker_command_parts <CLI/CLI.hpp> <nlohmann/json.hpp>)
  # Small files, each of which would compile the parser of the command line and of JSON. Those left out name
  # what is theirs alike.
  stoker_compile_together(stoker_command_parts 3)
  stoker_compile_alone(${folder}/verbs/observe.cpp ${folder}/verbs/run.cpp ${folder}/program.cpp)
endif()
