// What the threads of a workgroup share, read from a shader's SPIR-V.
#include "stoker/device/vulkan/memory/shared_memory.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/kernels/glsl/compiler.hpp"

namespace stoker::device::vulkan {
namespace {

const ShaderVariant f32{"f32", {{"T", DType::f32}}};

std::uint64_t shared_by(const std::string& declarations, const std::string& use) {
  Shader shader{.name = "sharing",
                .file = "sharing.glsl",
                .bindings = {{"x", "T"}, {"y", "T", true}},
                .variants = {f32}};
  shader.source = declarations + "void main() {\n" + use +
                  "barrier();\ny_store(0, x_load(0) + float(s[0]));\n}\n";
  return shared_bytes(compile_glsl(shader, f32), {});
}

TEST(SharedMemory, counts_arrays_of_every_element) {
  EXPECT_EQ(shared_by("shared float s[100];\n", "s[gl_LocalInvocationIndex] = x_load(0);\n"), 400U);
  EXPECT_EQ(shared_by("shared uint s[3];\nshared vec4 t[8];\n",
                      "s[gl_LocalInvocationIndex] = 1u; t[gl_LocalInvocationIndex] = vec4(1);\n"
                      "s[0] = uint(t[gl_LocalInvocationIndex + 1].x);\n"),
            12U + 128U);
}

TEST(SharedMemory, of_text_that_is_no_module_is_none) {
  EXPECT_EQ(shared_bytes({}, {}), 0U);
  const std::vector<std::uint32_t> torn{0x07230203, 0x10500, 0, 8, 0, (9U << 16) | 28U, 1};
  EXPECT_EQ(shared_bytes(torn, {}), 0U);
}

}  // namespace
}  // namespace stoker::device::vulkan
