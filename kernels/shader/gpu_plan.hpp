// How a kernel computes on a GPU: shaders as data, and the passes that use them.
//
// A Shader declares the names that its GLSL file may use. The declarations in GLSL, the preamble, are
// generated from it, so the two cannot disagree. Built-in shaders are compiled to SPIR-V when Stoker is
// built; user shaders when they are registered.
//
// Values. Threads: shaders do not change once their kernel is registered, and any number of threads may plan with
// them at once (Kernel::gpu).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/kernels/call.hpp"

namespace stoker {

/// A buffer that a shader sees, under `name`. `type` is a dtype name ("f32") or a type letter that
/// the variant binds ("T").
struct ShaderBinding {
  std::string name;
  std::string type;
  bool writes = false;
};

enum class PushType : std::uint8_t { u32, s32, f32 };
/// A number (or array of `count`) that is passed with each dispatch; read in GLSL as `name`.
struct PushField {
  std::string name;
  PushType type = PushType::u32;
  std::uint32_t count = 1;
};

/// A compile-time number that may differ by pipeline: `layout(constant_id)`.
struct SpecConstant {
  std::string name;
  std::uint32_t value = 0;  ///< the default
};

/// One compiled form of a shader.
struct ShaderVariant {
  std::string name;                                       ///< "f32"; unique within the shader
  std::vector<std::pair<std::string, DType>> types = {};  ///< {"T", f32}
  std::vector<std::pair<std::string, std::string>> defines = {};
  /// Filled for user shaders when they are registered; empty for built-in ones, whose SPIR-V is
  /// part of the library.
  std::vector<std::uint32_t> spirv = {};
};

struct Shader {
  std::string name;  ///< unique over all kernels, "softmax_rows"
  std::string file;  ///< under kernels/, "softmax/rows.glsl"; user shaders: for messages only
  std::vector<ShaderBinding> bindings;
  std::vector<PushField> push = {};
  std::vector<SpecConstant> constants = {};
  std::array<std::uint32_t, 3> local_size = {256, 1, 1};
  std::vector<ShaderVariant> variants;
  /// Returns GLSL that precedes the text of a variant, for definitions that are generated from
  /// data. Called when the variant is compiled.
  std::function<std::string(const ShaderVariant&)> prologue = {};
  /// Source text; empty for built-in shaders, whose file is compiled when Stoker is built.
  std::string source = {};
  /// Needs subgroup arithmetic operations (`subgroupAdd` …); the device reports their absence.
  bool uses_subgroups = false;

  [[nodiscard]] const ShaderVariant* variant(std::string_view name) const noexcept;
};

/// The size that Vulkan guarantees for push constants. If addresses and push fields together take
/// more bytes, they are passed in memory.
inline constexpr std::size_t most_pushed_bytes = 128;

/// The values of a shader's push fields, in declaration order.
class PushValues {
 public:
  PushValues& u32(std::uint64_t value) { return append(static_cast<std::uint32_t>(value)); }
  PushValues& s32(std::int64_t value) { return append(static_cast<std::int32_t>(value)); }
  PushValues& f32(double value) { return append(static_cast<float>(value)); }
  /// Appends `count` words: those of `values`, then `rest` for the others.
  PushValues& u32s(std::span<const std::int64_t> values, std::size_t count,
                   std::uint32_t rest = 0) {
    for (std::size_t i = 0; i < count; ++i)
      append(i < values.size() ? static_cast<std::uint32_t>(values[i]) : rest);
    return *this;
  }
  /// Appends the words one after the other.
  PushValues& u32s(std::span<const std::uint32_t> values) {
    for (const std::uint32_t value : values) append(value);
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  template <class T> PushValues& append(T value) {
    const std::size_t size = bytes_.size();
    bytes_.resize(size + sizeof value);
    std::memcpy(bytes_.data() + size, &value, sizeof value);
    return *this;
  }
  std::vector<std::byte> bytes_;
};

/// Which buffer a pass binds.
struct PassBinding {
  enum class Source : std::uint8_t { input, output, scratch } source;
  std::uint32_t index = 0;
};
[[nodiscard]] constexpr PassBinding input(std::uint32_t i) noexcept {
  return {PassBinding::Source::input, i};
}
[[nodiscard]] constexpr PassBinding output(std::uint32_t i = 0) noexcept {
  return {PassBinding::Source::output, i};
}
[[nodiscard]] constexpr PassBinding scratch(std::uint32_t i) noexcept {
  return {PassBinding::Source::scratch, i};
}

struct GpuPass {
  const Shader* shader = nullptr;  ///< one of Kernel::shaders
  std::string variant;
  std::vector<PassBinding> bindings;  ///< one for each Shader::bindings
  PushValues push = {};
  std::array<std::uint32_t, 3> groups = {1, 1, 1};  ///< each ≥ 1 and ≤ 65535, see linear_groups()
  std::vector<std::uint32_t> constants = {};        ///< replaces the defaults, in their order
  /// An upper bound of the rounds that one thread makes in all its loops together, if they may be
  /// many. Some drivers leave long loops early; such a device refuses the plan (`unsupported`).
  std::uint64_t rounds = 0;
};

/// Passes run in order; each sees the writes of earlier passes.
struct GpuPlan {
  std::vector<GpuPass> passes;
  std::vector<std::size_t> scratch_bytes;  ///< one temporary buffer each
};

/// A grid of at least `groups` groups that stays within 65,535 per axis; GLSL reads the linear
/// index as stoker_group() and must ignore indices past the end.
[[nodiscard]] std::array<std::uint32_t, 3> linear_groups(std::uint64_t groups) noexcept;
/// Groups needed for one thread per item.
[[nodiscard]] inline std::array<std::uint32_t, 3> linear_groups_for(std::uint64_t items,
                                                                    std::uint32_t local) noexcept {
  return linear_groups((items + local - 1) / local);
}

/// The device properties that a GPU plan may depend on.
struct GpuTraits {
  std::uint32_t subgroup_size = 32;
  std::uint32_t shared_bytes = 16384;
  std::uint32_t compute_units = 1;  ///< an estimate; 1 if unknown
  /// Whether a shader that uses subgroups can exchange values within them (`subgroupShuffleXor`). A
  /// group of a multiple of subgroup_size threads then consists of full subgroups of that size.
  bool subgroup_shuffles = false;
};

}  // namespace stoker
