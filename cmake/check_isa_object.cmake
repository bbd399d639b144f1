# Fails if OBJECT runs code when it is loaded: that would happen before the processor was asked
# whether it has the instructions. Such code comes from a global variable with a constructor.
execute_process(COMMAND "${OBJDUMP}" -h "${OBJECT}" OUTPUT_VARIABLE sections
                COMMAND_ERROR_IS_FATAL ANY)
if(sections MATCHES "\\.(init_array|ctors)")
  file(REMOVE "${OBJECT}")
  message(FATAL_ERROR "A CPU version has a global variable that is initialised at load time; "
                      "make it constexpr or local to a function.")
endif()
