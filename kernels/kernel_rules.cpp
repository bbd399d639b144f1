#include "stoker/kernels/kernel_rules.hpp"

#include <set>

#include "stoker/kernels/shader/preamble.hpp"
#include "stoker/kernels/shader/shader_names.hpp"

namespace stoker {
namespace {

class Checker {
 public:
  explicit Checker(const Kernel& kernel) : kernel_{kernel} {}

  Result<void> run() const {
    STOKER_TRY(check_names());
    for (const ParamSpec& spec : kernel_.params) STOKER_TRY(check_param(spec));
    std::set<std::string_view> shaders;
    for (const auto& shader : kernel_.shaders) {
      if (!shader) return refuse("a shader is null");
      if (!shaders.insert(shader->name).second)
        return refuse("two shaders are named '" + shader->name + "'");
      STOKER_TRY(check_shader(*shader));
    }
    return {};
  }

 private:
  [[nodiscard]] Error refuse(std::string reason) const {
    return {kernel_.name.empty() ? "kernel" : kernel_.name, ErrorCode::invalid_argument,
            "the definition is refused: " + std::move(reason)};
  }

  Result<void> check_names() const {
    if (!is_identifier(kernel_.name)) return refuse("'" + kernel_.name + "' is no usable name");
    for (const std::string& alias : kernel_.aliases)
      if (!is_identifier(alias)) return refuse("'" + alias + "' is no usable alias");
    if (!kernel_.infer) return refuse("infer is missing");
    if (kernel_.inputs.min > kernel_.inputs.max) return refuse("more inputs at least than at most");
    if (kernel_.dtypes.empty() && kernel_.inputs.max > 0) return refuse("dtypes are missing");
    std::set<std::string_view> names;
    for (const ParamSpec& spec : kernel_.params)
      if (!names.insert(spec.name).second)
        return refuse("parameter '" + spec.name + "' is declared twice");
    return {};
  }

  Result<void> check_param(const ParamSpec& spec) const {
    const std::string named = "parameter '" + spec.name + "'";
    if (!is_identifier(spec.name)) return refuse(named + " has no usable name");
    if (spec.fallback && static_cast<ParamType>(spec.fallback->index()) != spec.type)
      return refuse(named + " is " + std::string{to_string(spec.type)} + ", and its default is " +
                    std::string{to_string(static_cast<ParamType>(spec.fallback->index()))});
    if (!spec.choices.empty() && spec.type != ParamType::text)
      return refuse(named + " has choices but is no text");
    if (spec.min && spec.max && *spec.min > *spec.max) return refuse(named + " has an empty range");
    return {};
  }

  Result<void> check_shader(const Shader& shader) const {
    const std::string named = "shader '" + shader.name + "'";
    if (!is_identifier(shader.name)) return refuse(named + " has no usable name");
    if (shader.file.empty() && shader.source.empty()) return refuse(named + " has no text");
    if (shader.variants.empty()) return refuse(named + " has no variant");
    if (const auto wrong = wrong_name(shader)) return refuse(named + ": " + *wrong);
    for (const PushField& field : shader.push)
      if (field.count == 0) return refuse(named + ": push field '" + field.name + "' is empty");
    const auto [x, y, z] = shader.local_size;
    if (const std::uint64_t threads = std::uint64_t{x} * y * z; threads == 0 || threads > 1024)
      return refuse(named + ": a group has " + std::to_string(threads) + " threads, not 1 to 1024");
    return check_variants(shader, named);
  }

  Result<void> check_variants(const Shader& shader, const std::string& named) const {
    std::set<std::string_view> names;
    for (const ShaderVariant& variant : shader.variants) {
      if (!names.insert(variant.name).second)
        return refuse(named + ": two variants are named '" + variant.name + "'");
      for (const ShaderBinding& binding : shader.bindings)
        if (!binding_dtype(binding.type, variant))
          return refuse(named + ", variant '" + variant.name + "': binding '" + binding.name +
                        "' has no type '" + binding.type + "'");
    }
    return {};
  }

  const Kernel& kernel_;
};

}  // namespace

Result<void> check_definition(const Kernel& kernel) { return Checker{kernel}.run(); }

}  // namespace stoker
