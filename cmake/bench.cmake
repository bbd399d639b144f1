# All benchmarks in one program, stoker_bench. Peers that are installed are compared with.

stoker_glob(bench_sources bench/*.cpp)
if(NOT bench_sources)
  return()
endif()
find_package(CLI11 REQUIRED)
add_executable(stoker_bench ${bench_sources})
target_link_libraries(stoker_bench PRIVATE stoker_settings stoker_stoker DNNL::dnnl CLI11::CLI11
                                           nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
target_include_directories(stoker_bench PRIVATE "${STOKER_VULKAN_INCLUDE}")
target_compile_definitions(stoker_bench PRIVATE STOKER_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")

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
