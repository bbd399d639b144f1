// The names that kernels may have, and what their shaders declare.
//
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker {

/// A letter or underscore, then letters, digits and underscores; no "__" and no "gl_" or "stoker_"
/// in front, which GLSL and the preamble keep for themselves.
[[nodiscard]] bool is_identifier(std::string_view name) noexcept;

/// What is wrong with a name of the shader's bindings, push fields or spec constants: it is no identifier, it is
/// there twice, or the preamble or GLSL means something else by it. Nothing: all are good.
///
/// A binding may have the name of a keyword ("out", "input") or of a function of several arguments ("min"): its
/// accessor x(i) is a macro of one argument, which no use of those words looks like.
[[nodiscard]] std::optional<std::string> wrong_name(const Shader& shader);

}  // namespace stoker
