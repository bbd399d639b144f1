# Installation: a prefix that can be moved, with one CMake component for each library.
#
#   find_package(Stoker COMPONENTS core)      → Stoker::core
#   pkg-config --cflags --libs stoker         → core

include(CMakePackageConfigHelpers)
if(STOKER_CPU_VARIANTS STREQUAL "own")
  # An installed copy may come to another machine.
  install(CODE [[
    if(NOT "$ENV{STOKER_INSTALL_OWN}")
      message(FATAL_ERROR "This build has CPU kernels for this machine's instruction set only. `./dev install \
PREFIX` builds those for all processors and installs them; STOKER_INSTALL_OWN=1 in the environment installs \
this build as it is.")
    endif()]] ALL_COMPONENTS)
endif()
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Stoker")

foreach(component ${STOKER_COMPONENTS} stoker)
  install(TARGETS stoker_${component} EXPORT stoker_${component}
          RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT stoker_${component} FILE Stoker-${component}.cmake NAMESPACE Stoker::
          DESTINATION "${config_dir}")
  if(NOT component STREQUAL stoker)
    set_target_properties(stoker_${component} PROPERTIES INSTALL_RPATH "$ORIGIN")
  endif()
endforeach()
add_custom_target(stoker_to_install DEPENDS ${all_components})
if(TARGET stoker_command)
  add_dependencies(stoker_to_install stoker_command stoker_train stoker_run stoker_ops stoker_layers stoker_onnx_command stoker_predict stoker_serve_command)
  install(TARGETS stoker_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(TARGETS stoker_train stoker_run stoker_ops stoker_layers stoker_onnx_command stoker_predict stoker_serve_command RUNTIME DESTINATION "${STOKER_LIBEXEC}")
endif()
if(TARGET stoker_command AND NOT CMAKE_CROSSCOMPILING AND NOT STOKER_SANITIZE)
  # The manual page and bash's completion are what the command prints of itself.
  set(manual_page "${CMAKE_CURRENT_BINARY_DIR}/stoker.1")
  set(bash_completion "${CMAKE_CURRENT_BINARY_DIR}/stoker.bash")
  add_custom_command(OUTPUT "${manual_page}" "${bash_completion}"
                     COMMAND stoker_command man > "${manual_page}"
                     COMMAND stoker_command completion > "${bash_completion}"
                     DEPENDS stoker_command VERBATIM COMMENT "Writing the manual page")
  add_custom_target(stoker_manual ALL DEPENDS "${manual_page}" "${bash_completion}")
  add_dependencies(stoker_to_install stoker_manual)
  install(FILES "${manual_page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${bash_completion}" RENAME stoker
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endif()

include(public_headers)
stoker_public_headers("${CMAKE_CURRENT_SOURCE_DIR}" public_headers)
foreach(header ${public_headers})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/stoker/${folder}")
endforeach()
install(FILES "${STOKER_GENERATED_DIR}/stoker/api/nn/layers.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/stoker/api/nn")
install(FILES "${STOKER_GENERATED_DIR}/stoker/kernels/builtin_kernels.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/stoker/kernels")

configure_package_config_file(cmake/StokerConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/StokerConfig.cmake"
                              INSTALL_DESTINATION "${config_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/StokerConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/StokerConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/StokerConfigVersion.cmake"
              cmake/FindStokerDnnl.cmake cmake/FindStokerGlslang.cmake
        DESTINATION "${config_dir}")

# The path from the .pc file up to the prefix, so that the prefix may move.
file(RELATIVE_PATH STOKER_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(STOKER_PC_LIBS "-lboost_context -lspdlog -lfmt -ldnnl -lpng -lturbojpeg -ldl -pthread")
set(STOKER_PC_PRIVATE "")
if(BUILD_SHARED_LIBS)
  set(STOKER_PC_PRIVATE "${STOKER_PC_LIBS}")
  set(STOKER_PC_LIBS "-pthread")
endif()
configure_file(cmake/stoker.pc.in "${CMAKE_CURRENT_BINARY_DIR}/stoker.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/stoker.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/stoker")
