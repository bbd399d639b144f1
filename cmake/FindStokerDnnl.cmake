# oneDNN as DNNL::dnnl. Debian's own package file asks for OpenCL, which its library does not use.
find_path(DNNL_INCLUDE_DIR dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(StokerDnnl REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR)
if(StokerDnnl_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION "${DNNL_LIBRARY}"
                                              INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}")
endif()
