# The built-in shaders: a host tool, linked with the kernels' definitions, compiles every variant to
# SPIR-V; kernels/shader/spirv.cpp takes the result in.

stoker_glob(tool_sources kernels/shader_tool/*.cpp)
stoker_objects(stoker_definitions definition_objects)
add_executable(stoker_shaders ${tool_sources} ${definition_objects}
                              $<TARGET_OBJECTS:stoker_glsl_objects>)
set_target_properties(stoker_shaders PROPERTIES OUTPUT_NAME stoker-shaders)
target_link_libraries(stoker_shaders PRIVATE stoker_settings Boost::headers StokerGlslang::glslang)

set(pack "${CMAKE_CURRENT_BINARY_DIR}/spirv_pack.bin")
set(index "${STOKER_GENERATED_DIR}/stoker/kernels/spirv_index.inc")
set(stamp "${CMAKE_CURRENT_BINARY_DIR}/spirv_pack.stamp")
stoker_glob(shader_files kernels/*/*.glsl)
# The tool leaves unchanged files alone and Ninja then compiles nothing again; the stamp says that
# it ran. SPIR-V of earlier builds is kept, so an edit compiles only the shaders it changed.
add_custom_command(
  OUTPUT "${stamp}"
  BYPRODUCTS "${pack}" "${index}"
  COMMAND stoker_shaders --kernels "${CMAKE_CURRENT_SOURCE_DIR}/kernels" --pack "${pack}" --index
          "${index}" --cache "${CMAKE_CURRENT_BINARY_DIR}/spirv_cache"
  COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
  DEPENDS stoker_shaders ${shader_files}
  VERBATIM COMMENT "Compiling the built-in shaders")
add_custom_target(stoker_spirv DEPENDS "${stamp}")
add_dependencies(stoker_core stoker_spirv)
set_source_files_properties(
  kernels/shader/spirv.cpp PROPERTIES OBJECT_DEPENDS "${pack};${index}"
                               COMPILE_DEFINITIONS "STOKER_SPIRV_PACK=\"${pack}\"")
