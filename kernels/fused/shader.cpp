#include "stoker/kernels/fused/shader.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>

#include "stoker/kernels/fused/glsl_constants.hpp"

namespace stoker::kernels::fused {
namespace {

/// A value of a narrow dtype back in its range or precision; `$` is the value.
const char* narrowing(DType dtype) noexcept {
  switch (dtype) {
    case DType::f16: return "stoker_half($)";
    case DType::bf16: return "uintBitsToFloat(stoker_bf16($) << 16)";
    case DType::s8: return "(($) << 24) >> 24";
    case DType::s16: return "(($) << 16) >> 16";
    case DType::u8: return "($) & 255u";
    case DType::u16: return "($) & 65535u";
    default: return nullptr;
  }
}

constexpr std::string_view quotient_text = R"(
// i / extent for i below 2^31, by the multiplier of multiplier_for().
uint fused_quotient(uint i, uint extent, uint multiplier) {
  uint high, low;
  umulExtended(i, multiplier, high, low);
  return (high + i) >> uint(findMSB(extent - 1u) + 1);
}
)";

std::string prelude() { return std::string{scalar::series_definitions}.append(quotient_text); }

/// For the least s with extent <= 2^s: 2^32 (2^s - extent) / extent, the next number above. Granlund and
/// Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994, figure 4.1.
std::uint32_t multiplier_for(std::uint32_t extent) noexcept {
  if (extent == 0) return 0;  // nothing is computed
  const int s = std::bit_width(extent - 1);
  return static_cast<std::uint32_t>(((((std::uint64_t{1} << s) - extent) << 32) / extent) + 1);
}

/// A single pushed word would not be an array.
constexpr std::size_t least_words = 2;

class Writer {
 public:
  explicit Writer(const FusedProgram& program)
      : program_{program},
        dtypes_{program.dtypes()},
        needed_{needed_values(program)},
        layout_{layout_of(program, needed_)} {}

  /// Functions that take input `given` instead of reading it, and no main.
  Result<FusedShader> run_stores(std::size_t given) {
    given_ = given;
    STOKER_TRY(declare());
    text_ = prelude();
    STOKER_TRY(write_compute());
    const GlslNames names = names_of(dtypes_[given]);
    text_ += std::string{"void fused_store(uint i, "} + names.scalar + " given) {\n";
    write_one();
    text_ += std::string{"}\nvoid fused_store4(uint i, "} + names.four + " given) {\n";
    if (result_.unit == 4)
      write_four();
    else
      text_ += "    for (uint j = 0u; j < 4u; ++j) fused_store(i + j, given[j]);\n";
    text_ += "}\n";
    finish();
    return std::move(result_);
  }

  /// Functions instead of a main.
  Result<FusedShader> run_values() {
    stores_ = false;
    STOKER_TRY(declare());
    text_ = prelude();
    STOKER_TRY(write_compute());
    const GlslNames names = names_of(dtypes_[program_.outputs[0]]);
    text_ += std::string{names.scalar} + " fused_value(uint i) {\n";
    write_one();
    text_ += "}\n";
    if (result_.unit == 4) {
      text_ += std::string{names.four} + " fused_values(uint i) {\n";
      write_four();
      text_ += "}\n";
    }
    finish();
    return std::move(result_);
  }

  Result<FusedShader> run() {
    STOKER_TRY(declare());
    text_ = prelude();
    STOKER_TRY(write_compute());
    text_ += "void main() {\n  uint i = stoker_index()" +
             std::string{result_.unit == 4 ? " * 4u" : ""} + ";\n  if (i >= n) return;\n";
    if (result_.unit == 4) {
      text_ += "  if (i + 4u <= n) {\n";
      write_four();
      text_ += "    return;\n  }\n";
    }
    // The rest of the last four, or every element.
    text_ += result_.unit == 4 ? "  for (; i < n; ++i) {\n" : "  {\n";
    write_one();
    text_ += "  }\n}\n";
    result_.shader.push = {{"n"}};
    finish();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool dense(std::size_t k) const { return layout_.dense(k); }
  [[nodiscard]] bool single(std::size_t k) const { return layout_.period(k) == 1; }

  /// Bindings, and what a thread computes.
  Result<void> declare() {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    std::uint32_t buffer = 0;
    bool wide = false;
    flat_ = true;
    for (std::size_t k = 0; k < program_.inputs.size(); ++k) {
      const auto& input = program_.inputs[k];
      const std::uint32_t here = buffer;
      if (!input.index) ++buffer;
      if (!needed_[k]) continue;
      std::int64_t first = input.offset;
      std::int64_t last = input.offset;
      for (std::size_t axis = 0; axis < layout_.rank; ++axis)
        (layout_.strides[k][axis] < 0 ? first : last) +=
            layout_.strides[k][axis] * (layout_.extents[axis] - 1);
      if (first < -most || last > most)
        return Error{"fused",
                     ErrorCode::limit_exceeded,
                     "an input has positions that a GPU kernel cannot address",
                     {{"input", std::to_string(k)}, {"limit", std::to_string(most)}}};
      flat_ = flat_ && (layout_.rank <= 1 || single(k));
      if (input.index || k == given_) continue;
      flat_ = flat_ && (single(k) || (dense(k) && input.offset % 4 == 0));
      wide = wide || size_of(input.spec.dtype) == 8;
      result_.inputs.push_back(here);
      add_binding("in" + std::to_string(k), input.spec.dtype, false);
    }
    for (std::size_t o = 0; stores_ && o < program_.outputs.size(); ++o) {
      const DType dtype = dtypes_[program_.outputs[o]];
      wide = wide || size_of(dtype) == 8;
      add_binding("out" + std::to_string(o), dtype, true);
    }
    // Four 8-byte elements are more than a thread loads at once; of strided ones, four adjacent must
    // be in one row.
    result_.unit = !wide && (flat_ || layout_.inner() % 4 == 0) ? 4 : 1;
    lay_out();
    return {};
  }

  /// The numbers that say where inputs lie.
  void lay_out() {
    terms_.resize(program_.inputs.size());
    bool coordinates = false;
    for (std::size_t k = 0; k < program_.inputs.size(); ++k) {
      if (!needed_[k] || k == given_) continue;
      if (program_.inputs[k].offset != 0) terms_[k].offset = number(program_.inputs[k].offset);
      for (std::size_t axis = 0; axis < layout_.rank && !dense(k); ++axis) {
        const std::int64_t stride = layout_.strides[k][axis];
        const bool adjoins = stride == 1 && axis + 1 == layout_.rank;
        if (stride != 0) terms_[k].strides[axis] = adjoins ? "1" : number(stride);
        coordinates = coordinates || stride != 0;
      }
    }
    for (std::size_t axis = 1; coordinates && axis < layout_.rank; ++axis) {
      const auto extent = static_cast<std::uint32_t>(layout_.extents[axis]);
      divisors_[axis] = {word(extent), word(multiplier_for(extent))};
    }
  }

  /// GLSL for a number that is passed.
  [[nodiscard]] std::string word(std::uint32_t value) {
    result_.words.push_back(value);
    return "fused_words[" + std::to_string(result_.words.size() - 1) + "]";
  }
  [[nodiscard]] std::string number(std::int64_t value) {
    return "int(" + word(static_cast<std::uint32_t>(value)) + ")";
  }

  void add_binding(std::string name, DType dtype, bool writes) {
    result_.shader.bindings.push_back({std::move(name), std::string{to_string(dtype)}, writes});
  }

  [[nodiscard]] std::string type_of(std::size_t value) const {
    return names_of(dtypes_[value]).scalar;
  }

  static std::string narrowed(DType dtype, const std::string& value) {
    const char* const form = narrowing(dtype);
    if (!form) return value;
    std::string filled;
    for (const char* c = form; *c; ++c) *c == '$' ? filled += value : filled += *c;
    return filled;
  }

  /// The function `compute`: outputs of inputs, for one element.
  Result<void> write_compute() {
    std::string parameters;
    std::string body;
    const auto add_parameter = [&](const std::string& one) {
      parameters += (parameters.empty() ? "" : ", ") + one;
    };
    for (std::size_t v = 0; v < dtypes_.size(); ++v) {
      if (!needed_[v]) continue;
      const std::string declared = type_of(v) + " v" + std::to_string(v);
      if (v < program_.inputs.size()) {
        add_parameter(declared);
      } else if (v < program_.first_result()) {
        body += "  const " + declared + " = " + constant(v) + ";\n";
      } else {
        STOKER_TRY(write_instruction(v, declared, body));
      }
    }
    for (std::size_t o = 0; o < program_.outputs.size(); ++o) {
      const std::size_t value = program_.outputs[o];
      const std::string name = "r" + std::to_string(o);
      add_parameter("out " + type_of(value) + " " + name);
      body += "  " + name + " = v" + std::to_string(value) + ";\n";
    }
    text_ += "void compute(" + parameters + ") {\n" + body + "}\n";
    return {};
  }

  /// Whether the integer `value` divides. A literal becomes a product; what is pushed stays slow.
  [[nodiscard]] bool divides(std::size_t value) const {
    return !is_float(dtypes_[value]) && std::ranges::any_of(program_.code, [&](const auto& one) {
      return one.operands[1] == value &&
             (one.function->name == "quotient" || one.function->name == "remainder");
    });
  }

  /// GLSL for the constant `value`: passed, so that programs that differ only in it are one pipeline,
  /// or else as a literal.
  [[nodiscard]] std::string constant(std::size_t value) {
    const FusedProgram::Constant& known = program_.constants[value - program_.inputs.size()];
    if (divides(value)) return literal(known);
    const std::string first = word(word_of(known));
    const bool two = size_of(known.dtype) == 8;
    return from_words(known.dtype, first,
                      two ? word(static_cast<std::uint32_t>(known.bits >> 32)) : "0u");
  }

  Result<void> write_instruction(std::size_t value, const std::string& declared,
                                 std::string& body) {
    const auto& one = program_.code[value - program_.first_result()];
    const ScalarFunction& function = *one.function;
    const DType operand = dtypes_[one.operands[function.arity - 1U]];
    const ScalarGlsl glsl = function.glsl(operand, one.result);
    if (glsl.expression.empty())
      return Error{
          "fused",
          ErrorCode::unsupported,
          "GPUs have no " + std::string{function.name} + " of " + std::string{to_string(operand)} +
              "; the CPU device computes this",
          {{"function", std::string{function.name}}, {"dtype", std::string{to_string(operand)}}}};
    for (const std::string_view each : glsl.texts) {
      std::string filled = scalar::filled(each, operand, one.result);
      if (filled.empty() || std::ranges::find(texts_, filled) != texts_.end()) continue;
      text_ += filled + "\n";
      texts_.push_back(std::move(filled));
    }
    std::array<std::string, 3> names;
    for (std::size_t k = 0; k < function.arity; ++k)
      names[k] = "v" + std::to_string(one.operands[k]);
    // Precise: else drivers contract products and sums, across instructions too.
    body += std::string{is_float(one.result) ? "  precise " : "  "} + declared + " = " +
            scalar::filled(glsl.expression, operand, one.result, names) + ";\n";
    const bool in_range =
        function.result == ScalarResult::truth || (function.closed && is_float(one.result));
    const std::string name = "v" + std::to_string(value);
    if (narrowing(one.result) && !in_range)
      body += "  " + name + " = " + narrowed(one.result, name) + ";\n";
    return {};
  }

  /// GLSL for the position of input `k` at the element i whose coordinates are c0, c1 …, as an int.
  [[nodiscard]] std::string position(std::size_t k) const {
    const auto& [offset, strides] = terms_[k];
    std::string text = offset.empty() ? "0" : offset;
    if (single(k)) return text;
    if (dense(k)) return text + " + int(i)";
    for (std::size_t axis = 0; axis < layout_.rank; ++axis)
      if (!strides[axis].empty()) {
        const std::string c = "int(c" + std::to_string(axis) + ")";
        text += " + " + (strides[axis] == "1" ? c : strides[axis] + " * " + c);
      }
    return text;
  }

  /// The coordinates of element i.
  void write_coordinates() {
    if (layout_.rank == 1) text_ += "    uint c0 = i;\n";
    if (layout_.rank <= 1 || divisors_[1].extent.empty()) return;
    text_ += "    uint rest = i, whole;\n";
    for (std::size_t axis = layout_.rank - 1; axis > 0; --axis) {
      const auto& [extent, multiplier] = divisors_[axis];
      text_ += "    whole = fused_quotient(rest, " + extent + ", " + multiplier + ");\n    uint c" +
               std::to_string(axis) + " = rest - whole * " + extent + ";\n    rest = whole;\n";
    }
    text_ += "    uint c0 = rest;\n";
  }

  void write_positions() {
    write_coordinates();
    for (std::size_t k = 0; k < program_.inputs.size(); ++k)
      if (needed_[k] && k != given_)
        text_ += "    int p" + std::to_string(k) + " = " + position(k) + ";\n";
  }

  /// A position, or what lies there, in the input's compute type.
  [[nodiscard]] std::string element(std::size_t k, const std::string& at) const {
    const DType dtype = dtypes_[k];
    if (k == given_) return narrowed(dtype, at);
    if (!program_.inputs[k].index) return "in" + std::to_string(k) + "_load(uint(" + at + "))";
    return narrowed(dtype, type_of(k) + "(" + at + ")");
  }

  void write_call(const std::string& component) {
    text_ += "    compute(";
    bool first = true;
    const auto argument = [&](const std::string& name) {
      text_ += (first ? "" : ", ") + name + component;
      first = false;
    };
    for (std::size_t k = 0; k < program_.inputs.size(); ++k)
      if (needed_[k]) argument("a" + std::to_string(k));
    for (std::size_t o = 0; o < program_.outputs.size(); ++o) argument("b" + std::to_string(o));
    text_ += ");\n";
  }

  void write_one() {
    write_positions();
    for (std::size_t k = 0; k < program_.inputs.size(); ++k)
      if (needed_[k])
        text_ += "    " + type_of(k) + " a" + std::to_string(k) + " = " +
                 element(k, k == given_ ? "given" : "p" + std::to_string(k)) + ";\n";
    for (std::size_t o = 0; o < program_.outputs.size(); ++o)
      text_ += "    " + type_of(program_.outputs[o]) + " b" + std::to_string(o) + ";\n";
    write_call("");
    if (!stores_) text_ += "    return b0;\n";
    for (std::size_t o = 0; stores_ && o < program_.outputs.size(); ++o)
      text_ += "    out" + std::to_string(o) + "_store(i, b" + std::to_string(o) + ");\n";
  }

  /// Whether four adjacent elements of a buffer are one aligned load.
  [[nodiscard]] bool adjacent(std::size_t k) const {
    if (program_.inputs[k].index || layout_.rank == 0) return false;
    const Strides& strides = layout_.strides[k];
    bool aligned = program_.inputs[k].offset % 4 == 0 && strides[layout_.rank - 1] == 1;
    for (std::size_t axis = 0; axis + 1 < layout_.rank; ++axis)
      aligned = aligned && strides[axis] % 4 == 0;
    return aligned;
  }

  void write_four() {
    write_positions();
    for (std::size_t k = 0; k < program_.inputs.size(); ++k) {
      if (!needed_[k]) continue;
      const std::string p = "p" + std::to_string(k);
      const std::string four = names_of(dtypes_[k]).four;
      text_ += "    " + four + " a" + std::to_string(k) + " = ";
      const std::int64_t stride = layout_.rank == 0 ? 0 : layout_.strides[k][layout_.rank - 1];
      if (k == given_) {
        text_ += four + "(" + element(k, "given.x") + ", " + element(k, "given.y") + ", " +
                 element(k, "given.z") + ", " + element(k, "given.w") + ");\n";
      } else if (adjacent(k)) {
        text_ += "in" + std::to_string(k) + "_load4(uint(" + p + ") / 4u);\n";
      } else if (stride == 0) {
        text_ += four + "(" + element(k, p) + ");\n";
      } else {
        text_ += four + "(" + element(k, p);
        const std::string step = dense(k) ? "1" : terms_[k].strides[layout_.rank - 1];
        for (const char* lane : {"1 * ", "2 * ", "3 * "})
          text_ += ", " + element(k, p + " + " + lane + step);
        text_ += ");\n";
      }
    }
    for (std::size_t o = 0; o < program_.outputs.size(); ++o)
      text_ += "    " + std::string{names_of(dtypes_[program_.outputs[o]]).four} + " b" +
               std::to_string(o) + ";\n";
    for (const char* component : {".x", ".y", ".z", ".w"}) write_call(component);
    if (!stores_) text_ += "    return b0;\n";
    for (std::size_t o = 0; stores_ && o < program_.outputs.size(); ++o)
      text_ += "    out" + std::to_string(o) + "_store4(i / 4u, b" + std::to_string(o) + ");\n";
  }

  void finish() {
    Shader& shader = result_.shader;
    ShaderVariant variant{.name = "program"};
    // A letter for each dtype that only intermediate values have: the preamble then asks for what
    // its arithmetic needs.
    for (std::size_t v = 0; v < dtypes_.size(); ++v) {
      const std::string letter = "V_" + std::string{to_string(dtypes_[v])};
      if (needed_[v] && std::ranges::none_of(
                            variant.types, [&](const auto& type) { return type.first == letter; }))
        variant.types.emplace_back(letter, dtypes_[v]);
    }
    if (!result_.words.empty()) {
      result_.words.resize(std::max(result_.words.size(), least_words));
      shader.push.push_back(
          {.name = "fused_words", .count = static_cast<std::uint32_t>(result_.words.size())});
    }
    shader.variants = {std::move(variant)};
    shader.source = std::move(text_);
    name_by_text(shader);
  }

  const FusedProgram& program_;
  std::vector<DType> dtypes_;
  std::vector<bool> needed_;
  Layout layout_;
  bool flat_ = true;
  bool stores_ = true;  // the outputs; else there is one, and functions return it
  std::size_t given_ = std::numeric_limits<std::size_t>::max();  // the input that is an argument
  /// GLSL for the terms of an input's position; empty: 0.
  struct Terms {
    std::string offset;
    std::array<std::string, Shape::max_rank> strides;
  };
  std::vector<Terms> terms_;  // by input
  struct Divisor {
    std::string extent;
    std::string multiplier;
  };
  std::array<Divisor, Shape::max_rank> divisors_;  // by axis
  std::string text_;
  std::vector<std::string> texts_;
  FusedShader result_{.shader = {}, .inputs = {}, .unit = 4};
};

}  // namespace

void name_by_text(Shader& shader) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto mix = [&](std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  mix(shader.source);
  for (const ShaderBinding& binding : shader.bindings) mix(binding.type);
  char name[32];
  std::snprintf(name, sizeof name, "fused_%016llx", static_cast<unsigned long long>(hash));
  shader.name = name;
  shader.file = shader.name + ".glsl";
}

Result<FusedShader> make_values(const FusedProgram& program) {
  return Writer{program}.run_values();
}

Result<FusedShader> make_stores(const FusedProgram& program, std::size_t given) {
  return Writer{program}.run_stores(given);
}

Result<FusedShader> make_shader(const FusedProgram& program) { return Writer{program}.run(); }

}  // namespace stoker::kernels::fused
