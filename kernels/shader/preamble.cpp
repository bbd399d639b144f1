#include "stoker/kernels/shader/preamble.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

namespace stoker {
namespace {

/// How elements of a dtype are stored, loaded and computed with in GLSL. In the expressions, `$`
/// stands for the memory operand or the value.
struct GlslType {
  DType dtype;
  const char* storage;     // one element in memory
  const char* wide;        // four elements in memory, as one vector or word
  const char* wide_align;  // bytes
  const char* compute;
  const char* compute4;
  const char* load;
  const char* store;
  const char* load4;
  const char* store4;
};

// Bytes and 16-bit integers travel in groups of four inside one word or a pair: some drivers split
// vectors of narrow types into single accesses, none splits a word.
constexpr GlslType glsl_types[] = {
    {DType::f32, "float", "vec4", "16", "float", "vec4", "$", "$", "$", "$"},
    {DType::f64, "double", "dvec4", "16", "double", "dvec4", "$", "$", "$", "$"},
    {DType::f16, "float16_t", "f16vec4", "8", "float", "vec4", "float($)",
     "float16_t(stoker_half($))", "vec4($)",
     "f16vec4(vec4(stoker_half($.x), stoker_half($.y), stoker_half($.z), stoker_half($.w)))"},
    {DType::bf16, "uint16_t", "uvec2", "8", "float", "vec4", "uintBitsToFloat(uint($) << 16)",
     "uint16_t(stoker_bf16($))", "uintBitsToFloat(stoker_u16x4($) << 16)",
     "stoker_pack_16(uvec4(stoker_bf16($.x), stoker_bf16($.y), stoker_bf16($.z), "
     "stoker_bf16($.w)))"},
    {DType::s8, "int8_t", "uint", "4", "int", "ivec4", "int($)", "int8_t($)",
     "ivec4(stoker_u8x4($) << 24) >> 24", "stoker_pack_8(uvec4($))"},
    {DType::s16, "int16_t", "uvec2", "8", "int", "ivec4", "int($)", "int16_t($)",
     "ivec4(stoker_u16x4($) << 16) >> 16", "stoker_pack_16(uvec4($))"},
    {DType::s32, "int", "ivec4", "16", "int", "ivec4", "$", "$", "$", "$"},
    {DType::s64, "int64_t", "i64vec4", "16", "int64_t", "i64vec4", "$", "$", "$", "$"},
    {DType::u8, "uint8_t", "uint", "4", "uint", "uvec4", "uint($)", "uint8_t($)", "stoker_u8x4($)",
     "stoker_pack_8($)"},
    {DType::u16, "uint16_t", "uvec2", "8", "uint", "uvec4", "uint($)", "uint16_t($)",
     "stoker_u16x4($)", "stoker_pack_16($)"},
    {DType::u32, "uint", "uvec4", "16", "uint", "uvec4", "$", "$", "$", "$"},
    {DType::u64, "uint64_t", "u64vec4", "16", "uint64_t", "u64vec4", "$", "$", "$", "$"},
    {DType::boolean, "uint8_t", "uint", "4", "uint", "uvec4", "uint(uint($) != 0u)",
     "uint8_t(uint($ != 0u))", "uvec4(notEqual(stoker_u8x4($), uvec4(0u)))",
     "stoker_pack_8(uvec4(notEqual($, uvec4(0u))))"},
};
static_assert(std::size(glsl_types) == dtype_count);

const GlslType& glsl_type(DType dtype) noexcept {
  return *std::find_if(std::begin(glsl_types), std::end(glsl_types),
                       [&](const GlslType& type) { return type.dtype == dtype; });
}

/// Collects text; `line` joins its pieces and ends the line.
class Text {
 public:
  void line(std::initializer_list<std::string_view> pieces) {
    for (const std::string_view piece : pieces) text_ += piece;
    text_ += '\n';
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// The dtypes a variant touches, through its letters and its bindings.
std::vector<DType> used_dtypes(const Shader& shader, const ShaderVariant& variant) {
  std::vector<DType> used;
  for (const auto& [letter, dtype] : variant.types) used.push_back(dtype);
  for (const ShaderBinding& binding : shader.bindings)
    if (const auto dtype = binding_dtype(binding.type, variant)) used.push_back(*dtype);
  return used;
}

void write_extensions(Text& text, const Shader& shader, const ShaderVariant& variant) {
  const std::vector<DType> used = used_dtypes(shader, variant);
  const auto uses = [&](std::initializer_list<DType> dtypes) {
    return std::find_first_of(used.begin(), used.end(), dtypes.begin(), dtypes.end()) != used.end();
  };
  const auto require = [&](std::string_view name) {
    text.line({"#extension ", name, " : require"});
  };
  require("GL_EXT_buffer_reference");
  require("GL_EXT_buffer_reference2");
  require("GL_EXT_buffer_reference_uvec2");
  require("GL_EXT_scalar_block_layout");
  require("GL_EXT_control_flow_attributes");
  if (uses({DType::u8, DType::s8, DType::boolean})) require("GL_EXT_shader_8bit_storage");
  if (uses({DType::f16, DType::bf16, DType::s16, DType::u16}))
    require("GL_EXT_shader_16bit_storage");
  if (uses({DType::s64, DType::u64})) require("GL_EXT_shader_explicit_arithmetic_types_int64");
  if (shader.uses_subgroups)
    for (const char* part : {"basic", "arithmetic", "vote", "shuffle", "ballot"})
      text.line({"#extension GL_KHR_shader_subgroup_", part, " : require"});
}

struct Extremes {
  const char* least;
  const char* most;
};

/// Of the type that a dtype is computed in, infinities included.
Extremes extremes_of(DType dtype) noexcept {
  if (dtype == DType::f64)
    return {"double(uintBitsToFloat(0xff800000u))", "double(uintBitsToFloat(0x7f800000u))"};
  if (is_float(dtype)) return {"uintBitsToFloat(0xff800000u)", "uintBitsToFloat(0x7f800000u)"};
  if (dtype == DType::s64) return {"int64_t(0x8000000000000000L)", "int64_t(0x7fffffffffffffffL)"};
  if (dtype == DType::u64) return {"uint64_t(0)", "uint64_t(0xffffffffffffffffUL)"};
  return is_signed(dtype) ? Extremes{"int(0x80000000)", "2147483647"}
                          : Extremes{"0u", "4294967295u"};
}

void write_types(Text& text, const ShaderVariant& variant) {
  for (const auto& [letter, dtype] : variant.types) {
    const GlslType& type = glsl_type(dtype);
    text.line({"#define ", letter, " ", type.compute});
    text.line({"#define ", letter, "4 ", type.compute4});
    text.line({"#define ", letter, "_IS_FLOAT ", is_float(dtype) ? "1" : "0"});
    text.line({"#define ", letter, "_LEAST ", extremes_of(dtype).least});
    text.line({"#define ", letter, "_MOST ", extremes_of(dtype).most});
    for (const GlslType& other : glsl_types)
      text.line(
          {"#define ", letter, "_IS_", to_string(other.dtype), other.dtype == dtype ? " 1" : " 0"});
  }
}

std::string extent_of(const PushField& field) {
  return field.count == 1 ? "" : "[" + std::to_string(field.count) + "]";
}

std::string_view to_glsl(PushType type) noexcept {
  switch (type) {
    case PushType::s32: return "int";
    case PushType::f32: return "float";
    case PushType::u32: break;
  }
  return "uint";
}

void write_members(Text& text, const Shader& shader) {
  if (!shader.bindings.empty())
    text.line({"  uvec2 stoker_addresses[", std::to_string(shader.bindings.size()), "];"});
  for (const PushField& field : shader.push)
    text.line({"  ", to_glsl(field.type), " ", field.name, extent_of(field), ";"});
  text.line({"};"});
}

constexpr const char* block_layout =
    "layout(buffer_reference, scalar, buffer_reference_align = 8) restrict readonly buffer ";

/// The parameters: buffers as stoker_at_x, push fields by their names.
void write_parameters(Text& text, const Shader& shader) {
  if (shader.bindings.empty() && shader.push.empty()) return;
  if (in_memory(shader)) {
    text.line({block_layout, "stoker_block {"});
    write_members(text, shader);
    text.line({"layout(push_constant, scalar) uniform stoker_push { uvec2 stoker_block_at; };"});
    for (const PushField& field : shader.push)
      text.line({to_glsl(field.type), " ", field.name, extent_of(field),
                 " = stoker_block(stoker_block_at).", field.name, ";"});
  } else {
    text.line({"layout(push_constant, scalar) uniform stoker_push {"});
    write_members(text, shader);
  }
  if (shader.bindings.empty()) return;
  if (in_memory(shader)) {
    text.line({"#define stoker_address(i) stoker_block(stoker_block_at).stoker_addresses[i]"});
  } else {
    text.line({block_layout, "stoker_table { uvec2 at[]; };"});
    text.line({"#define stoker_first stoker_addresses[0]"});
    text.line(
        {"#define stoker_has_table (((stoker_first.y ^ (stoker_first.y << 1)) >> 31) != 0u)"});
    text.line({"#define stoker_table_at uvec2(stoker_first.x, stoker_first.y ^ 0x40000000u)"});
    text.line(
        {"#define stoker_address(i) (stoker_has_table ? stoker_table(stoker_table_at).at[i] : "
         "stoker_addresses[i])"});
  }
  for (std::size_t i = 0; i < shader.bindings.size(); ++i) {
    const std::string& x = shader.bindings[i].name;
    text.line({"stoker_elements_", x, " stoker_at_", x, " = stoker_elements_", x,
               "(stoker_address(", std::to_string(i), "));"});
  }
}

// `restrict`, though plans use memory again: what a dispatch reads it does not write through another name.
// The planner gives a reader and a writer of one dispatch memory apart, and DeviceClient::compose() and
// PipelinePlan::check_binding() refuse buffers that are both, but where the kernel runs in place
// (Kernel::in_place). There an element is loaded once, by the thread that stores it, and what is stored
// comes of what was loaded: no compiler can take the two in another order, whatever it believes of the
// names.
void write_buffer_types(Text& text, const ShaderBinding& binding, const GlslType& type) {
  const std::string element_bytes = std::to_string(size_of(type.dtype));
  const std::string_view access = binding.writes ? "restrict" : "restrict readonly";
  text.line({"layout(buffer_reference, scalar, buffer_reference_align = ", element_bytes, ") ",
             access, " buffer stoker_elements_", binding.name, " { ", type.storage, " at[]; };"});
  text.line({"layout(buffer_reference, scalar, buffer_reference_align = ", type.wide_align, ") ",
             access, " buffer stoker_wide_", binding.name, " { ", type.wide, " at[]; };"});
}

std::string substitute(std::string_view expression, std::string_view operand) {
  std::string text;
  for (const char c : expression) c == '$' ? text.append(operand) : text.append(1, c);
  return text;
}

void write_accessors(Text& text, const ShaderBinding& binding, const GlslType& type) {
  const std::string& x = binding.name;
  const std::string element = "stoker_at_" + x + ".at[i]";
  const std::string four = "stoker_wide_" + x + "(uvec2(stoker_at_" + x + ")).at[i]";
  // A comma makes a value of it: glslang lets a text assign to what is `readonly` behind an address.
  text.line({"#define ", x, binding.writes ? "(i) " + element : "(i) (0u, " + element + ")"});
  text.line(
      {type.compute, " ", x, "_load(uint i) { return ", substitute(type.load, element), "; }"});
  text.line(
      {type.compute4, " ", x, "_load4(uint i) { return ", substitute(type.load4, four), "; }"});
  if (!binding.writes) return;
  text.line({"void ", x, "_store(uint i, ", type.compute, " v) { ", element, " = ",
             substitute(type.store, "v"), "; }"});
  text.line({"void ", x, "_store4(uint i, ", type.compute4, " v) { ", four, " = ",
             substitute(type.store4, "v"), "; }"});
}

constexpr const char* functions = R"(uint stoker_group() {
  return gl_WorkGroupID.x +
         gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}
uint stoker_index() { return stoker_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; }
// The nearest number that is one of f16, of two the even one: what makes it one leaves it as it is. A
// driver's own conversion may cut off instead. Below 2^-14 adding 1/2 leaves multiples of 2^-24.
float stoker_half(float v) {
  uint bits = floatBitsToUint(v);
  uint magnitude = bits & 0x7fffffffu;
  uint rounded = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) & 0xffffe000u;
  precise float raised = abs(v) + 0.5;
  precise float fine = raised - 0.5;
  uint near = magnitude < 0x38800000u ? floatBitsToUint(fine) : rounded;
  uint bounded = magnitude > 0x7f800000u ? magnitude : near >= 0x47800000u ? 0x7f800000u : near;
  return uintBitsToFloat(bounded | (bits & 0x80000000u));
}
// Rounds to nearest even; a NaN keeps its upper bits and stays a NaN.
uint stoker_bf16(float v) {
  uint b = floatBitsToUint(v);
  return (b & 0x7fffffffu) > 0x7f800000u ? (b >> 16) | 0x40u
                                         : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
}
uvec4 stoker_u8x4(uint word) { return uvec4(word, word >> 8, word >> 16, word >> 24) & 255u; }
uvec4 stoker_u16x4(uvec2 pair) {
  return uvec4(pair.x, pair.x >> 16, pair.y, pair.y >> 16) & 65535u;
}
uint stoker_pack_8(uvec4 v) {
  return (v.x & 255u) | (v.y & 255u) << 8 | (v.z & 255u) << 16 | v.w << 24;
}
uvec2 stoker_pack_16(uvec4 v) {
  return uvec2((v.x & 65535u) | v.y << 16, (v.z & 65535u) | v.w << 16);
})";

}  // namespace

std::optional<DType> binding_dtype(std::string_view type, const ShaderVariant& variant) noexcept {
  std::optional<DType> found = parse_dtype(type);
  for (const auto& [letter, dtype] : variant.types)
    if (letter == type) found = dtype;
  // Shaders see complex numbers as pairs.
  return found && is_complex(*found) ? std::nullopt : found;
}

std::size_t push_bytes(const Shader& shader) noexcept {
  std::size_t bytes = 0;
  for (const PushField& field : shader.push) bytes += 4 * std::size_t{field.count};
  return bytes;
}

bool in_memory(const Shader& shader) noexcept {
  return 8 * shader.bindings.size() + push_bytes(shader) > most_pushed_bytes;
}

std::string preamble(const Shader& shader, const ShaderVariant& variant) {
  Text text;
  text.line({"#version 460"});
  write_extensions(text, shader, variant);
  const auto axis = [&](int i) {
    return std::to_string(shader.local_size[static_cast<std::size_t>(i)]);
  };
  text.line({"layout(local_size_x = ", axis(0), ", local_size_y = ", axis(1),
             ", local_size_z = ", axis(2), ") in;"});
  for (std::size_t i = 0; i < shader.constants.size(); ++i)
    text.line({"layout(constant_id = ", std::to_string(i), ") const uint ",
               shader.constants[i].name, " = ", std::to_string(shader.constants[i].value), "u;"});
  for (const ShaderBinding& binding : shader.bindings) {
    if (const auto dtype = binding_dtype(binding.type, variant))
      write_buffer_types(text, binding, glsl_type(*dtype));
    else
      text.line({"#error binding ", binding.name, " has type ", binding.type,
                 " which this variant does not bind"});
  }
  write_parameters(text, shader);
  text.line({functions});
  for (const ShaderBinding& binding : shader.bindings)
    if (const auto dtype = binding_dtype(binding.type, variant))
      write_accessors(text, binding, glsl_type(*dtype));
  write_types(text, variant);
  for (const auto& [name, value] : variant.defines) text.line({"#define ", name, " ", value});
  if (shader.prologue) text.line({shader.prologue(variant)});
  text.line({"#line 1"});
  return text.take();
}

}  // namespace stoker
