# Installs the build to a prefix, moves the prefix, and builds and runs the consumer against it, with
# CMake's components and with pkg-config. Then configures it with Stoker as a subdirectory of its own;
# with SUBDIRECTORY=build it is built and run too (that compiles Stoker once more: not in ctest).
#   cmake -DSOURCE=… -DBUILD=… -DGENERATOR=… -DCOMPILER=… -P check.cmake

set(work "${BUILD}/install-check")
set(prefix "${work}/moved/prefix")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}/moved")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(result)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

# configure(NAME ARGS…), and consumer(NAME ARGS…), which also builds and runs it.
function(configure name)
  run("${CMAKE_COMMAND}" -S "${SOURCE}/tests/install/consumer" -B "${work}/${name}" -G
      "${GENERATOR}" -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN})
endfunction()
function(consumer name)
  configure(${name} ${ARGN})
  run("${CMAKE_COMMAND}" --build "${work}/${name}")
  run("${work}/${name}/consumer")
endfunction()

set(ENV{STOKER_INSTALL_OWN} 1)  # this copy stays on this machine
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${work}/first")
file(RENAME "${work}/first" "${prefix}")
file(GLOB command "${prefix}/bin/stoker")
file(GLOB beside "${prefix}/share/man/man1/stoker.1" "${prefix}/share/bash-completion/completions/stoker")
list(LENGTH beside count)
if(command AND NOT count EQUAL 2)
  message(FATAL_ERROR "The command is installed without its manual page or bash's completion: ${beside}")
endif()
consumer(core "-DCMAKE_PREFIX_PATH=${prefix}" -DCOMPONENTS=core)
consumer(all "-DCMAKE_PREFIX_PATH=${prefix}" "-DCOMPONENTS=stoker;glsl")

file(GLOB_RECURSE pc "${prefix}/*/stoker.pc")
cmake_path(GET pc PARENT_PATH pc_dir)
run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${pc_dir}" sh -c
    "${COMPILER} -o ${work}/pc ${SOURCE}/tests/install/consumer/main.cpp $(pkg-config --cflags --libs stoker)")
cmake_path(GET pc_dir PARENT_PATH lib_dir)
run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${lib_dir}" "${work}/pc")

set(subdirectory subdirectory -DSTOKER_SOURCE=${SOURCE} -DCOMPONENTS=core)
if(SUBDIRECTORY STREQUAL build)
  consumer(${subdirectory})
else()
  configure(${subdirectory})
endif()
