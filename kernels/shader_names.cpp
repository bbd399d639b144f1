#include "stoker/kernels/shader_names.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace stoker {
namespace {

using std::string_view_literals::operator""sv;

/// Words that mean something wherever they stand, beside those of is_type().
constexpr auto glsl_keywords =
    std::to_array({"VULKAN"sv,     "atomic_uint"sv,   "attribute"sv, "bool"sv,
                   "break"sv,      "buffer"sv,        "case"sv,      "centroid"sv,
                   "coherent"sv,   "const"sv,         "continue"sv,  "default"sv,
                   "defined"sv,    "demote"sv,        "discard"sv,   "do"sv,
                   "double"sv,     "else"sv,          "false"sv,     "flat"sv,
                   "float"sv,      "for"sv,           "highp"sv,     "if"sv,
                   "in"sv,         "inout"sv,         "int"sv,       "invariant"sv,
                   "layout"sv,     "lowp"sv,          "main"sv,      "mediump"sv,
                   "nonprivate"sv, "noperspective"sv, "out"sv,       "patch"sv,
                   "precise"sv,    "precision"sv,     "readonly"sv,  "restrict"sv,
                   "return"sv,     "sample"sv,        "shared"sv,    "smooth"sv,
                   "struct"sv,     "subroutine"sv,    "switch"sv,    "true"sv,
                   "uint"sv,       "uniform"sv,       "varying"sv,   "void"sv,
                   "volatile"sv,   "while"sv,         "writeonly"sv});

/// Words that GLSL keeps and gives no meaning.
constexpr auto glsl_reserved = std::to_array(
    {"active"sv,    "asm"sv,    "cast"sv,      "class"sv,    "common"sv, "enum"sv,      "extern"sv,
     "external"sv,  "filter"sv, "fixed"sv,     "goto"sv,     "half"sv,   "inline"sv,    "input"sv,
     "interface"sv, "long"sv,   "namespace"sv, "noinline"sv, "output"sv, "partition"sv, "public"sv,
     "resource"sv,  "short"sv,  "sizeof"sv,    "static"sv,   "superp"sv, "template"sv,  "this"sv,
     "typedef"sv,   "union"sv,  "unsigned"sv,  "using"sv});

/// Functions, which a binding's accessor would stand in front of.
constexpr auto glsl_functions = std::to_array({"abs"sv,
                                               "acos"sv,
                                               "acosh"sv,
                                               "all"sv,
                                               "any"sv,
                                               "asin"sv,
                                               "asinh"sv,
                                               "atan"sv,
                                               "atanh"sv,
                                               "barrier"sv,
                                               "bitCount"sv,
                                               "bitfieldExtract"sv,
                                               "bitfieldInsert"sv,
                                               "bitfieldReverse"sv,
                                               "ceil"sv,
                                               "clamp"sv,
                                               "cos"sv,
                                               "cosh"sv,
                                               "cross"sv,
                                               "degrees"sv,
                                               "determinant"sv,
                                               "distance"sv,
                                               "dot"sv,
                                               "equal"sv,
                                               "exp"sv,
                                               "exp2"sv,
                                               "faceforward"sv,
                                               "findLSB"sv,
                                               "findMSB"sv,
                                               "floatBitsToInt"sv,
                                               "floatBitsToUint"sv,
                                               "floor"sv,
                                               "fma"sv,
                                               "fract"sv,
                                               "frexp"sv,
                                               "greaterThan"sv,
                                               "greaterThanEqual"sv,
                                               "groupMemoryBarrier"sv,
                                               "imulExtended"sv,
                                               "intBitsToFloat"sv,
                                               "inverse"sv,
                                               "inversesqrt"sv,
                                               "isinf"sv,
                                               "isnan"sv,
                                               "ldexp"sv,
                                               "length"sv,
                                               "lessThan"sv,
                                               "lessThanEqual"sv,
                                               "log"sv,
                                               "log2"sv,
                                               "matrixCompMult"sv,
                                               "max"sv,
                                               "memoryBarrier"sv,
                                               "memoryBarrierBuffer"sv,
                                               "memoryBarrierShared"sv,
                                               "min"sv,
                                               "mix"sv,
                                               "mod"sv,
                                               "modf"sv,
                                               "normalize"sv,
                                               "not"sv,
                                               "notEqual"sv,
                                               "outerProduct"sv,
                                               "packDouble2x32"sv,
                                               "packHalf2x16"sv,
                                               "packSnorm2x16"sv,
                                               "packSnorm4x8"sv,
                                               "packUnorm2x16"sv,
                                               "packUnorm4x8"sv,
                                               "pow"sv,
                                               "radians"sv,
                                               "reflect"sv,
                                               "refract"sv,
                                               "round"sv,
                                               "roundEven"sv,
                                               "sign"sv,
                                               "sin"sv,
                                               "sinh"sv,
                                               "smoothstep"sv,
                                               "sqrt"sv,
                                               "step"sv,
                                               "tan"sv,
                                               "tanh"sv,
                                               "transpose"sv,
                                               "trunc"sv,
                                               "uaddCarry"sv,
                                               "uintBitsToFloat"sv,
                                               "umulExtended"sv,
                                               "unpackDouble2x32"sv,
                                               "unpackHalf2x16"sv,
                                               "unpackSnorm2x16"sv,
                                               "unpackSnorm4x8"sv,
                                               "unpackUnorm2x16"sv,
                                               "unpackUnorm4x8"sv,
                                               "usubBorrow"sv});

bool is_one_of(std::span<const std::string_view> words, std::string_view name) noexcept {
  return std::ranges::find(words, name) != words.end();
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
    if (std::string_view rest = name; take_front(rest, scalar) && is_one_of(widths, rest))
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
      if (is_one_of(endings, rest) || (take_front(rest, "_IS_") && parse_dtype(rest))) return true;
    }
  return false;
}

/// The binding of which `name` is an accessor; empty if of none.
std::string_view accessed(const Shader& shader, std::string_view name) {
  for (const ShaderBinding& binding : shader.bindings) {
    std::string_view rest = name;
    if (take_front(rest, binding.name) &&
        is_one_of(std::array{"_load"sv, "_load4"sv, "_store"sv, "_store4"sv}, rest))
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
    if (is_one_of(glsl_keywords, name) || is_type(name) || name.starts_with("GL_"))
      return quoted + " is a word of GLSL";
    if (is_binding ? is_one_of(glsl_functions, name) : is_one_of(glsl_reserved, name))
      return quoted +
             (is_binding ? " is a function of GLSL" : " is a word that GLSL keeps for itself");
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
