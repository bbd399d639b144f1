#include "stoker/kernels/shader/shader_names.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace stoker {
namespace {

using std::string_view_literals::operator""sv;

// A binding's accessor is a macro of one argument, which the preprocessor sees only before a parenthesis: it would
// take the place of the words in the first two lists, and of no others.

/// Words of the language that may stand before a parenthesis, beside the types; and a macro of glslang's.
constexpr std::string_view glsl_calls = R"(
VULKAN bool case defined do double else float for if int layout main return subroutine switch uint while
)";

/// Functions that may be called with one argument or none, and what the preamble calls.
constexpr std::string_view glsl_functions = R"(
abs acos acosh all any asin asinh atan atanh barrier bitCount bitfieldReverse ceil cos cosh degrees determinant
exp exp2 findLSB findMSB floatBitsToInt floatBitsToUint floor fract groupMemoryBarrier intBitsToFloat inverse
inversesqrt isinf isnan length log log2 memoryBarrier memoryBarrierBuffer memoryBarrierShared normalize not
notEqual packDouble2x32 packHalf2x16 packSnorm2x16 packSnorm4x8 packUnorm2x16 packUnorm4x8 radians round
roundEven sign sin sinh sqrt tan tanh transpose trunc uintBitsToFloat unpackDouble2x32 unpackHalf2x16
unpackSnorm2x16 unpackSnorm4x8 unpackUnorm2x16 unpackUnorm4x8
)";

/// The other words that no variable may have as its name.
constexpr std::string_view glsl_keywords = R"(
active asm atomic_uint attribute break buffer cast centroid class coherent common const continue default demote
discard enum extern external false filter fixed flat goto half highp in inline inout input interface invariant
long lowp mediump namespace noinline nonprivate noperspective out output partition patch precise precision
public readonly resource restrict sample shared short sizeof smooth static struct superp template this true
typedef uniform union unsigned using varying void volatile writeonly
)";

/// Whether it is one of `words`, each of which stands between spaces or lines' ends.
bool is_one_of(std::string_view words, std::string_view name) noexcept {
  const auto parts = [&](std::size_t at) { return words[at] == ' ' || words[at] == '\n'; };
  for (std::size_t at = words.find(name); at != words.npos; at = words.find(name, at + 1))
    if (parts(at - 1) && parts(at + name.size())) return true;
  return false;
}

bool take_front(std::string_view& text, std::string_view front) noexcept {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

/// vec3, i16vec2, dmat4x3, uint8_t, sampler2D, … and what is like them.
bool is_type(std::string_view name) noexcept {
  constexpr std::array scalars = {"float"sv, "int"sv, "uint"sv};
  constexpr std::array widths = {"8_t"sv, "16_t"sv, "32_t"sv, "64_t"sv};
  constexpr std::array elements = {"f16"sv, "f32"sv, "f64"sv, "i8"sv,  "i16"sv, "i32"sv,
                                   "i64"sv, "u8"sv,  "u16"sv, "u32"sv, "u64"sv, "b"sv,
                                   "d"sv,   "i"sv,   "u"sv,   "f"sv,   "h"sv,   ""sv};
  constexpr std::array opaque = {"sampler"sv, "image"sv, "texture"sv, "subpassInput"sv};
  constexpr std::array kinds = {"1D"sv, "2D"sv, "3D"sv, "Cube"sv, "Buffer"sv, "Shadow"sv};
  for (const std::string_view scalar : scalars)
    if (std::string_view rest = name;
        take_front(rest, scalar) && std::ranges::find(widths, rest) != widths.end())
      return true;
  const auto is_extent = [](std::string_view text) {
    return text.size() == 1 && text[0] >= '2' && text[0] <= '4';
  };
  for (const std::string_view element : elements) {
    std::string_view rest = name;
    if (!take_front(rest, element)) continue;
    if (std::string_view extent = rest; take_front(extent, "vec")) return is_extent(extent);
    if (std::string_view extents = rest; take_front(extents, "mat"))
      return is_extent(extents) ||
             (extents.size() == 3 && extents[1] == 'x' && is_extent(extents.substr(0, 1)) &&
              is_extent(extents.substr(2)));
    for (const std::string_view kind : opaque)
      if (std::string_view dimension = rest; take_front(dimension, kind))
        return (dimension.empty() && (kind == "sampler" || kind == "subpassInput")) ||
               std::ranges::any_of(kinds, [&](auto one) { return dimension.starts_with(one); });
  }
  return false;
}

/// Whether the preamble defines it for a type letter of the shader's.
bool is_of_a_letter(const Shader& shader, std::string_view name) {
  constexpr std::array endings = {""sv, "4"sv, "_IS_FLOAT"sv, "_LEAST"sv, "_MOST"sv};
  for (const ShaderVariant& variant : shader.variants)
    for (const auto& [letter, dtype] : variant.types) {
      std::string_view rest = name;
      if (!take_front(rest, letter)) continue;
      if (std::ranges::find(endings, rest) != endings.end() ||
          (take_front(rest, "_IS_") && parse_dtype(rest)))
        return true;
    }
  return false;
}

/// The binding of which `name` is an accessor; empty if of none.
std::string_view accessed(const Shader& shader, std::string_view name) {
  constexpr std::array endings = {"_load"sv, "_load4"sv, "_store"sv, "_store4"sv};
  for (const ShaderBinding& binding : shader.bindings) {
    std::string_view rest = name;
    if (take_front(rest, binding.name) && std::ranges::find(endings, rest) != endings.end())
      return binding.name;
  }
  return {};
}

}  // namespace

bool is_identifier(std::string_view name) noexcept {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); }) &&
         name.find("__") == name.npos && !name.starts_with("gl_") && !name.starts_with("stoker_");
}

std::optional<std::string> wrong_name(const Shader& shader) {
  std::set<std::string_view> names;
  const auto wrong = [&](const std::string& name, bool is_binding) -> std::optional<std::string> {
    const std::string quoted = "'" + name + "'";
    if (!is_identifier(name)) return quoted + " cannot name a variable";
    if (!names.insert(name).second) return quoted + " is declared twice";
    if (is_of_a_letter(shader, name)) return quoted + " is a word of the preamble";
    if (const std::string_view x = accessed(shader, name); !x.empty())
      return quoted + " is the name of an accessor of '" + std::string{x} + "'";
    if (is_one_of(glsl_calls, name) || is_type(name) || name.starts_with("GL_"))
      return quoted + " is a word of GLSL";
    if (is_binding && is_one_of(glsl_functions, name)) return quoted + " is a function of GLSL";
    if (!is_binding && is_one_of(glsl_keywords, name))
      return quoted + " is a word that GLSL keeps for itself";
    return {};
  };
  for (const ShaderBinding& binding : shader.bindings)
    if (auto found = wrong(binding.name, true)) return found;
  for (const PushField& field : shader.push)
    if (auto found = wrong(field.name, false)) return found;
  for (const SpecConstant& constant : shader.constants)
    if (auto found = wrong(constant.name, false)) return found;
  return {};
}

}  // namespace stoker
