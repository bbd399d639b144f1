#include "stoker/kernels/fused/reduction_shader.hpp"

#include <string>

#include "stoker/kernels/reduce/shader_sources.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::kernels::fused {

Result<ReductionShader> make_reduction_shader(const FusedProgram& program,
                                              const reduce::Steps& steps, DType partial,
                                              DType result) {
  static constinit NeverDestroyed<reduce::Shaders> made_once;
  const reduce::Shaders& plain = made_once.get(&reduce::make_shaders);
  const reduce::Walk walk = reduce::walk_of(steps.steps[0]);
  STOKER_ASSIGN(FusedShader made, make_values(program));
  Shader& shader = made.shader;
  const reduce::Planned planned =
      reduce::plan_step(shader, reduce::Operation::sum, steps.steps[0], made.unit == 4);
  const bool last = steps.steps.size() == 1 && planned.pieces == 1;
  const DType to = last ? result : partial;
  shader.bindings.push_back({"y", std::string{to_string(to)}, true});
  std::vector<PushField> fields = reduce::shader_for(plain, walk)->push;
  shader.constants = reduce::shader_for(plain, walk)->constants;
  // Scalar functions may have texts with names like these; those stand before the definitions.
  const auto rename = [&](std::string& name) {
    shader.source += "#define " + name + " reduce_" + name + "\n";
    name = "reduce_" + name;
  };
  for (PushField& field : fields) rename(field.name);
  shader.push.insert(shader.push.begin(), fields.begin(), fields.end());
  for (SpecConstant& constant : shader.constants) rename(constant.name);
  ShaderVariant& variant = shader.variants[0];
  variant.types.emplace_back("S", program.dtypes()[program.outputs[0]]);
  variant.types.emplace_back("D", to);
  variant.defines.emplace_back("FUSED", "1");
  shader.source += std::string{"#define FOUR "} + (made.unit == 4 ? "1\n" : "0\n");
  shader.source += reduce::text_of(walk);
  name_by_text(shader);
  return ReductionShader{std::move(made), last};
}

}  // namespace stoker::kernels::fused
