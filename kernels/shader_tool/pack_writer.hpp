// Writes compiled shaders in the form that kernels/shader/spirv.cpp embeds.
#pragma once

#include <filesystem>
#include <span>

#include "stoker/kernels/shader_tool/shader_jobs.hpp"

namespace stoker::shader_tool {

/// `pack`: the words of all modules, equal ones once. `index`: one C++ initialiser a line,
/// {"shader", "variant", first word, words}, ordered by shader and variant as `modules` must be, below a
/// comment that differs where packs do.
/// A file whose content would stay the same is left untouched. io_error if one cannot be written.
[[nodiscard]] Result<void> write_pack(std::span<const Module> modules,
                                      const std::filesystem::path& pack,
                                      const std::filesystem::path& index);

}  // namespace stoker::shader_tool
