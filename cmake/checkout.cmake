# For tests and benchmarks, which read files of the checkout. Their own commands hold no path of it, so that ccache
# takes what another checkout has compiled.
add_library(stoker_checkout STATIC EXCLUDE_FROM_ALL tests/checkout/checkout.cpp)
target_link_libraries(stoker_checkout PRIVATE stoker_settings)
target_compile_definitions(stoker_checkout PRIVATE STOKER_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
                                                   STOKER_BINARY_DIR="${CMAKE_CURRENT_BINARY_DIR}")
