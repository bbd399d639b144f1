# All benchmarks in one program, stoker_bench, which only `dev build`, `dev bench` and CI compile. Peers that
# are installed are compared with. Those in bench/peers are programs of their own, which stoker_bench starts.

stoker_glob(bench_sources bench/*.cpp bench/*/*.cpp)
list(FILTER bench_sources EXCLUDE REGEX "/bench/(peers|h200)/")
if(NOT bench_sources)
  return()
endif()
find_package(CLI11 REQUIRED)
add_executable(stoker_bench EXCLUDE_FROM_ALL ${bench_sources})
target_link_libraries(stoker_bench PRIVATE stoker_settings stoker_stoker stoker_checkout DNNL::dnnl CLI11::CLI11
                                           nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
target_include_directories(stoker_bench PRIVATE "${STOKER_VULKAN_INCLUDE}")
stoker_compile_together(stoker_bench 14)
stoker_compile_alone(bench/serving/bodies.cpp bench/serving/http.cpp bench/serving/http_load.cpp)
stoker_optimise_moderately(stoker_bench)  # what is measured lies in libraries

# Two of OpenCV's libraries are all that is needed (Debian: libopencv-imgproc-dev); its CMake package
# comes only with all of them.
find_path(STOKER_OPENCV_INCLUDE opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(STOKER_OPENCV_CORE opencv_core)
find_library(STOKER_OPENCV_IMGPROC opencv_imgproc)
mark_as_advanced(STOKER_OPENCV_INCLUDE STOKER_OPENCV_CORE STOKER_OPENCV_IMGPROC)
if(STOKER_OPENCV_INCLUDE AND STOKER_OPENCV_CORE AND STOKER_OPENCV_IMGPROC)
  target_compile_definitions(stoker_bench PRIVATE STOKER_BENCH_OPENCV=1)
  target_include_directories(stoker_bench SYSTEM PRIVATE "${STOKER_OPENCV_INCLUDE}")
  target_link_libraries(stoker_bench PRIVATE "${STOKER_OPENCV_IMGPROC}" "${STOKER_OPENCV_CORE}")
endif()

# LibTorch 1.13, as Debian 12 has it (libtorch-dev).
find_path(STOKER_TORCH_INCLUDE torch/csrc/api/include/torch/torch.h)
find_library(STOKER_TORCH torch)
find_library(STOKER_TORCH_CPU torch_cpu)
find_library(STOKER_TORCH_C10 c10)
mark_as_advanced(STOKER_TORCH_INCLUDE STOKER_TORCH STOKER_TORCH_CPU STOKER_TORCH_C10)
if(STOKER_TORCH_INCLUDE AND STOKER_TORCH AND STOKER_TORCH_CPU AND STOKER_TORCH_C10)
  add_executable(bench_torch EXCLUDE_FROM_ALL bench/peers/torch.cpp)
  set_target_properties(bench_torch PROPERTIES CXX_STANDARD 17)
  target_include_directories(
    bench_torch SYSTEM PRIVATE "${STOKER_TORCH_INCLUDE}"
                                       "${STOKER_TORCH_INCLUDE}/torch/csrc/api/include")
  target_link_libraries(bench_torch PRIVATE "${STOKER_TORCH}" "${STOKER_TORCH_CPU}"
                                                    "${STOKER_TORCH_C10}" Threads::Threads)
  add_dependencies(stoker_bench bench_torch)
endif()

# CAF's own CMake package comes in many versions; the peer is written for 0.17, as in Debian 12.
find_path(STOKER_CAF_INCLUDE caf/atom.hpp)
find_library(STOKER_CAF_CORE caf_core)
mark_as_advanced(STOKER_CAF_INCLUDE STOKER_CAF_CORE)
if(STOKER_CAF_INCLUDE AND STOKER_CAF_CORE)
  add_executable(bench_caf_actors EXCLUDE_FROM_ALL bench/peers/caf_actors.cpp)
  set_target_properties(bench_caf_actors PROPERTIES CXX_STANDARD 17)
  target_include_directories(bench_caf_actors SYSTEM PRIVATE "${STOKER_CAF_INCLUDE}")
  target_link_libraries(bench_caf_actors PRIVATE "${STOKER_CAF_CORE}" Threads::Threads)
  add_dependencies(stoker_bench bench_caf_actors)
endif()
