# The public headers: the entry points, which are the headers that lie directly in api/, those of layers and the
# options of kernels, and what they include.
# Only these are installed. cmake/public_headers.txt lists them, so that a change of the public surface shows in
# a change of that list, and a test compares the two. Layers and the options of kernels stand in it as one pattern
# each: whoever adds a layer or a kernel edits no list. To write it again:
#
#   cmake -DSOURCE=. -DLIST=cmake/public_headers.txt -P cmake/public_headers.cmake

cmake_policy(VERSION 3.25)

# stoker_public_headers(OUT): paths from the root, sorted.
function(stoker_public_headers source out)
  file(GLOB waiting RELATIVE "${source}" "${source}/api/*.hpp" "${source}/api/nn/layers/*.hpp"
       "${source}/kernels/*/options.hpp")
  set(found "")
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST found)
      continue()
    endif()
    list(APPEND found "${header}")
    file(STRINGS "${source}/${header}" includes REGEX "^#include \"stoker/")
    list(TRANSFORM includes REPLACE "^#include \"stoker/([^\"]+)\".*" "\\1")
    # What CMake writes (generated_lists.cmake) only includes others.
    list(REMOVE_ITEM includes "api/nn/layers.hpp" "kernels/builtin_kernels.hpp")
    list(APPEND waiting ${includes})
  endwhile()
  list(SORT found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND LIST)
  cmake_path(ABSOLUTE_PATH SOURCE NORMALIZE)
  cmake_path(ABSOLUTE_PATH LIST NORMALIZE)
  stoker_public_headers("${SOURCE}" headers)
  list(FILTER headers EXCLUDE REGEX "^(kernels/[^/]*/options|api/nn/layers/[^/]*)\\.hpp$")
  list(APPEND headers "api/nn/layers/*.hpp" "kernels/*/options.hpp")
  list(SORT headers)
  list(JOIN headers "\n" text)
  if(COMPARE)
    file(READ "${LIST}" listed)
    if(NOT listed STREQUAL "${text}\n")
      message(FATAL_ERROR "The public headers have changed. Write their list anew:\n"
                          "  cmake -DSOURCE=. -DLIST=cmake/public_headers.txt -P cmake/public_headers.cmake")
    endif()
  else()
    file(WRITE "${LIST}" "${text}\n")
  endif()
endif()
