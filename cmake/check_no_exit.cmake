# Fails if one of LIBRARIES (separated by commas) calls a function that ends the process. What
# libstdc++ does by itself (std::terminate in the destructor of a thread) is not among them.
string(REPLACE "," ";" LIBRARIES "${LIBRARIES}")
foreach(library ${LIBRARIES})
  execute_process(COMMAND "${NM}" --undefined-only "${library}" OUTPUT_VARIABLE symbols
                  ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(LENGTH "${symbols}" length)
  if(length EQUAL 0)
    message(FATAL_ERROR "nm finds nothing in ${library}")
  endif()
  if(symbols MATCHES " U (abort|exit|_exit|_Exit|quick_exit|__assert_fail|raise|kill)[@\n]")
    message(FATAL_ERROR "${library} calls ${CMAKE_MATCH_1}(): a library must not end its process")
  endif()
endforeach()
