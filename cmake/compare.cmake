# Random cases for ./dev compare, which computes them once more with NumPy and SciPy. Not part of `all`.

stoker_glob(compare_sources tests/compare/*.cpp)
add_executable(stoker_compare EXCLUDE_FROM_ALL ${compare_sources})
target_link_libraries(stoker_compare PRIVATE stoker_settings stoker_glsl stoker_tensor stoker_nn
                                             nlohmann_json::nlohmann_json)
stoker_optimise_little(stoker_compare)
