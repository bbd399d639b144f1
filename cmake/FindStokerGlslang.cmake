# glslang and SPIRV-Tools as StokerGlslang::glslang, by their libraries: the CMake targets of these
# packages differ between releases. Dependents stand before what they need; the optional ones are
# part of glslang itself in newer releases.
include(FindPackageHandleStandardArgs)
find_path(STOKER_GLSLANG_INCLUDE glslang/Public/ShaderLang.h)
set(stoker_glslang_libraries "")
set(stoker_glslang_required STOKER_GLSLANG_INCLUDE)
foreach(name SPIRV glslang-default-resource-limits glslang MachineIndependent? GenericCodeGen?
             OGLCompiler? OSDependent? SPIRV-Tools-opt SPIRV-Tools)
  string(REPLACE "?" "" library "${name}")
  find_library(STOKER_LIB_${library} ${library})
  mark_as_advanced(STOKER_LIB_${library})
  if(STOKER_LIB_${library})
    list(APPEND stoker_glslang_libraries "${STOKER_LIB_${library}}")
  endif()
  if(library STREQUAL name)
    list(APPEND stoker_glslang_required STOKER_LIB_${library})
  endif()
endforeach()
find_package_handle_standard_args(StokerGlslang REQUIRED_VARS ${stoker_glslang_required})
if(StokerGlslang_FOUND AND NOT TARGET StokerGlslang::glslang)
  add_library(StokerGlslang::glslang INTERFACE IMPORTED)
  set_target_properties(
    StokerGlslang::glslang PROPERTIES INTERFACE_LINK_LIBRARIES "${stoker_glslang_libraries}"
                                      INTERFACE_INCLUDE_DIRECTORIES "${STOKER_GLSLANG_INCLUDE}")
endif()
