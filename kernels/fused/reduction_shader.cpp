#include "stoker/kernels/fused/reduction_shader.hpp"

#include <array>
#include <string>

#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::kernels::fused {
namespace {

// V is the dtype of the values, D that of sums and of what is left. The bodies are those of
// kernels/reduce/*.glsl, where the strategies are described.
constexpr const char* combining = R"(
D reduce_identity() {
  if (operation == 1) return D_LOWEST;
  if (operation == 2) return D_HIGHEST;
  return operation == 4 || operation == 5 ? D(1) : D(0);
}

D reduce_combine(D a, D b) {
  if (operation == 0) return a + b;
  if (operation == 4 || operation == 5) return a * b;
#if D_IS_FLOAT
  if (isnan(b)) return b;
#endif
  return (operation == 2 ? b < a : b > a) ? b : a;
}
D4 reduce_combine(D4 a, D4 b) {
  return D4(reduce_combine(a.x, b.x), reduce_combine(a.y, b.y), reduce_combine(a.z, b.z),
            reduce_combine(a.w, b.w));
}
D reduce_across4(D4 v) {
  return reduce_combine(reduce_combine(v.x, v.y), reduce_combine(v.z, v.w));
}

#if D_IS_u8
D reduce_operand(V x) { return operation < 5 ? D(x) : D(x != V(0)); }
#else
D reduce_operand(V x) { return D(x); }
#endif
D reduce_one(uint at) { return reduce_operand(fused_value(at)); }
// Elements 4 at … 4 at + 3.
#if FOUR
D4 reduce_four(uint at) {
  V4 v = fused_values(4u * at);
  return D4(reduce_operand(v.x), reduce_operand(v.y), reduce_operand(v.z), reduce_operand(v.w));
}
#else
D4 reduce_four(uint at) {
  at *= 4u;
  return D4(reduce_one(at), reduce_one(at + 1u), reduce_one(at + 2u), reduce_one(at + 3u));
}
#endif

D reduce_divided(D sum) {
#if D_IS_FLOAT
  // The mean of none is NaN.
  if (count != 1) return count == 0 ? D(uintBitsToFloat(0x7fc00000u)) : sum / D(count);
#endif
  return sum;
}
)";

constexpr const char* rows = R"(
shared D part[256];

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint member = lane % lanes;
  uint item = stoker_group() * (256 / lanes) + lane / lanes;
  D sum = reduce_identity();
  if (item < items) {
    uint first = item % pieces * length;
    uint n = min(first + length, reduced) - first;
    uint base = item / pieces * reduced + first;
    if (wide != 0) {
      uint quad = member, quads = n / 4, at = base / 4;
      for (; quad + 3 * lanes < quads; quad += 4 * lanes) {
        D4 a = reduce_four(at + quad), b = reduce_four(at + quad + lanes);
        D4 c = reduce_four(at + quad + 2 * lanes), d = reduce_four(at + quad + 3 * lanes);
        sum = reduce_combine(sum, reduce_combine(reduce_combine(reduce_across4(a), reduce_across4(b)),
                                   reduce_combine(reduce_across4(c), reduce_across4(d))));
      }
      for (; quad < quads; quad += lanes) sum = reduce_combine(sum, reduce_across4(reduce_four(at + quad)));
    } else {
      uint i = member;
      for (; i + 3 * lanes < n; i += 4 * lanes) {
        D a = reduce_one(base + i), b = reduce_one(base + i + lanes);
        D c = reduce_one(base + i + 2 * lanes), d = reduce_one(base + i + 3 * lanes);
        sum = reduce_combine(sum, reduce_combine(reduce_combine(a, b), reduce_combine(c, d)));
      }
      for (; i < n; i += lanes) sum = reduce_combine(sum, reduce_one(base + i));
    }
  }
  part[lane] = sum;
  for (uint half_team = lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) part[lane] = reduce_combine(part[lane], part[lane + half_team]);
  }
  if (member == 0 && item < items) y_store(item, reduce_divided(part[lane]));
}
)";

constexpr const char* columns = R"(
shared D4 part[256];

D4 reduce_fetch(uint at) { return wide != 0 ? reduce_four(at) : D4(reduce_one(at)); }

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint across = 256 / row_lanes;
  uint member = lane / across;
  uint item = stoker_group() * across + lane % across;
  uint unit = wide != 0 ? 4 : 1;
  uint columns = inner / unit;  // and below everything counts in units
  uint column = item % columns;
  uint piece = item / columns % pieces;
  uint outer = item / columns / pieces;

  D4 sum = D4(reduce_identity());
  if (item < items) {
    uint first = piece * length;
    uint end = min(first + length, reduced);
    uint base = outer * reduced * columns + column;
    uint row = first + member;
    for (; row + 3 * row_lanes < end; row += 4 * row_lanes) {
      D4 a = reduce_fetch(base + row * columns), b = reduce_fetch(base + (row + row_lanes) * columns);
      D4 c = reduce_fetch(base + (row + 2 * row_lanes) * columns);
      D4 d = reduce_fetch(base + (row + 3 * row_lanes) * columns);
      sum = reduce_combine(sum, reduce_combine(reduce_combine(a, b), reduce_combine(c, d)));
    }
    for (; row < end; row += row_lanes) sum = reduce_combine(sum, reduce_fetch(base + row * columns));
  }
  part[lane] = sum;
  for (uint half_team = row_lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) part[lane] = reduce_combine(part[lane], part[lane + half_team * across]);
  }
  if (member != 0 || item >= items) return;
  sum = part[lane];
  sum = D4(reduce_divided(sum.x), reduce_divided(sum.y), reduce_divided(sum.z), reduce_divided(sum.w));
  if (wide != 0)
    y_store4(item, sum);
  else
    y_store(item, sum.x);
}
)";

constexpr const char* narrow = R"(
shared D part[256];

void main() {
  uint item = stoker_group();
  if (item >= items) return;
  uint lane = gl_LocalInvocationID.x;
  uint first = item % pieces * length;
  uint n = (min(first + length, reduced) - first) * inner;
  uint base = (item / pieces * reduced + first) * inner;
  uint active_lanes = 256 / inner * inner;

  D sum = reduce_identity();
  if (lane < active_lanes) {
    uint i = lane;
    for (; i + 3 * active_lanes < n; i += 4 * active_lanes) {
      D a = reduce_one(base + i), b = reduce_one(base + i + active_lanes);
      D c = reduce_one(base + i + 2 * active_lanes), d = reduce_one(base + i + 3 * active_lanes);
      sum = reduce_combine(sum, reduce_combine(reduce_combine(a, b), reduce_combine(c, d)));
    }
    for (; i < n; i += active_lanes) sum = reduce_combine(sum, reduce_one(base + i));
  }
  part[lane] = sum;
  barrier();
  if (lane >= inner) return;
  for (uint other = lane + inner; other < active_lanes; other += inner)
    sum = reduce_combine(sum, part[other]);
  y_store(item * inner + lane, reduce_divided(sum));
}
)";

/// The least and the greatest value of D, in its compute type.
std::array<const char*, 2> limits_of(DType dtype) noexcept {
  if (dtype == DType::f64)
    return {"double(uintBitsToFloat(0xff800000u))", "double(uintBitsToFloat(0x7f800000u))"};
  if (is_float(dtype)) return {"uintBitsToFloat(0xff800000u)", "uintBitsToFloat(0x7f800000u)"};
  if (dtype == DType::s64) return {"int64_t(0x8000000000000000L)", "int64_t(0x7fffffffffffffffL)"};
  if (dtype == DType::u64) return {"uint64_t(0)", "uint64_t(0xffffffffffffffffUL)"};
  if (is_signed(dtype)) return {"int(0x80000000)", "2147483647"};
  return {"0u", "4294967295u"};
}

const char* text_of(reduce::Walk walk) noexcept {
  if (walk == reduce::Walk::rows) return rows;
  return walk == reduce::Walk::narrow ? narrow : columns;
}

}  // namespace

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
  variant.types.emplace_back("V", program.dtypes()[program.outputs[0]]);
  variant.types.emplace_back("D", to);
  const auto [least, most] = limits_of(to);
  shader.source += std::string{"#define FOUR "} + (made.unit == 4 ? "1" : "0") +
                   "\n#define D_LOWEST " + least + "\n#define D_HIGHEST " + most + "\n" +
                   combining + text_of(walk);
  name_by_text(shader);
  return ReductionShader{std::move(made), last};
}

}  // namespace stoker::kernels::fused
