# Groups of sources that are compiled together. Most sources are small and take longer to read what they include
# than to compile; five together take two fifths of the time.
#
# CMake's own groups (UNITY_BUILD) name their sources by absolute paths, so that a compilation in one checkout is
# another one in the next. These name them as headers are named, and ccache knows them again wherever they lie.

# stoker_compile_together(TARGET GROUPS): a source's name decides its group, so that a new source does not move
# others. Sources that name what is theirs as others of their group do are kept apart (stoker_compile_alone), and so
# are those with compiler settings of their own. -DSTOKER_UNITY=OFF compiles each alone, as `dev lint` does, so that
# each includes what it uses.
function(stoker_compile_together target groups)
  if(NOT STOKER_UNITY)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # An unnamed namespace is as good in a source that is included by its group as it is alone.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  # At the end of the directory, when all settings of sources are known.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL stoker_make_groups ${target} ${groups})")
endfunction()

# stoker_compile_alone(SOURCES…)
function(stoker_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES STOKER_COMPILED_ALONE ON)
endfunction()

set(stoker_settings_of_a_source STOKER_COMPILED_ALONE GENERATED COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FLAGS
                                INCLUDE_DIRECTORIES OBJECT_DEPENDS SKIP_PRECOMPILE_HEADERS)

function(stoker_make_groups target groups)
  get_target_property(sources ${target} SOURCES)
  set(kept "")
  foreach(source ${sources})
    set(apart OFF)
    if(source MATCHES "\\.cpp$")
      foreach(setting ${stoker_settings_of_a_source})
        get_source_file_property(value "${source}" ${setting})
        if(value)
          set(apart ON)
        endif()
      endforeach()
    else()
      set(apart ON)
    endif()
    if(apart)
      list(APPEND kept "${source}")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    cmake_path(IS_PREFIX STOKER_GENERATED_DIR "${source}" generated)
    if(generated)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${STOKER_GENERATED_DIR}" OUTPUT_VARIABLE name)
      set(included "${name}")
    else()
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE name)
      set(included "stoker/${name}")
    endif()
    string(MD5 hash "${name}")
    string(SUBSTRING ${hash} 0 6 hash)
    math(EXPR group "0x${hash} % ${groups}")
    string(APPEND members_${group} "#include \"${included}\"\n")
  endforeach()
  math(EXPR last "${groups} - 1")
  foreach(group RANGE ${last})
    if(members_${group})
      set(file "${CMAKE_CURRENT_BINARY_DIR}/groups/${target}_${group}.cpp")
      set(content "${members_${group}}")
      file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT "@content@")
      list(APPEND kept "${file}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${kept}")
endfunction()
