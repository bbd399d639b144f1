#include "stoker/kernels/fused/run_time_shader.hpp"

#include <unordered_map>

#include "stoker/kernels/shader/preamble.hpp"
#include "stoker/runtime/base/process_mutex.hpp"

namespace stoker::kernels::fused {
namespace {

/// All that decides what a shader is compiled to and how it is used: equal keys, equal shaders.
std::string key_of(const Shader& shader) {
  std::string key = preamble(shader, shader.variants[0]) + shader.source;
  key += '\0' + shader.name + '\0' + shader.variants[0].name + (shader.uses_subgroups ? " s" : "");
  for (const SpecConstant& constant : shader.constants) key += " " + std::to_string(constant.value);
  for (const ShaderBinding& binding : shader.bindings) key += binding.writes ? " w" : " r";
  return key;
}

}  // namespace

/// The shaders that somebody has, by key. They take themselves out when the last one lets go.
class RunTimeShader::Known : public std::enable_shared_from_this<Known> {
 public:
  /// The only global one: a shader does not depend on a device or a system.
  static const std::shared_ptr<Known>& instance() {
    // Never destroyed, and made once: it has a ProcessMutex.
    static const auto& known =
        *std::make_unique<std::shared_ptr<Known>>(std::make_shared<Known>()).release();
    return known;
  }

  std::shared_ptr<Shared> get(Shader shader) {
    std::string key =
        key_of(shader);  // not const: its copy in the deleter must move without a throw
    auto take_out = [known = shared_from_this(), key](const Shared* gone) {
      known->forget(key);
      delete gone;
    };
    // Before the lock, which its end takes, too.
    auto shared = std::make_unique<Shared>(std::move(shader));
    std::shared_ptr<Shared> made{shared.release(), std::move(take_out)};
    const std::scoped_lock lock{mutex_};
    std::weak_ptr<Shared>& entry = shaders_[key];
    if (auto there = entry.lock()) return there;
    entry = made;
    return made;
  }

 private:
  void forget(const std::string& key) {
    const std::scoped_lock lock{mutex_};
    const auto entry = shaders_.find(key);
    // Meanwhile another one may have been made.
    if (entry != shaders_.end() && entry->second.expired()) shaders_.erase(entry);
  }

  ProcessMutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Shared>> shaders_;
};

// By main() at the latest: a fork() does not wait for a ProcessMutex that is made meanwhile.
const bool RunTimeShader::made_in_time_ = Known::instance() != nullptr;

RunTimeShader::RunTimeShader(Shader shader, ShaderCompiler compile)
    : shared_{Known::instance()->get(std::move(shader))}, compile_{std::move(compile)} {}

Result<void> RunTimeShader::compiled(std::string_view op) {
  if (!compile_)
    return Error{std::string{op},
                 ErrorCode::unsupported,
                 "it was made without a compiler of shaders; the CPU device computes this",
                 {{"feature", "GLSL compiler"}}};
  const std::scoped_lock lock{shared_->compiling};
  ShaderVariant& variant = shared_->shader.variants[0];
  if (!variant.spirv.empty()) return {};
  STOKER_ASSIGN(variant.spirv, compile_(shared_->shader, variant));
  return {};
}

Result<void> check_inputs(std::string_view op, std::span<const TensorSpec> expected,
                          const KernelCall& call) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (call.inputs[i] != expected[i])
      return Error{std::string{op},
                   call.dtype(i) != expected[i].dtype ? ErrorCode::dtype_mismatch
                                                      : ErrorCode::shape_mismatch,
                   "input " + std::to_string(i) + " is " + call.inputs[i].to_string() +
                       ", the program was made for " + expected[i].to_string(),
                   {{"expected", expected[i].to_string()}, {"got", call.inputs[i].to_string()}}};
  return {};
}

}  // namespace stoker::kernels::fused
