// Random numbers. With a seed a node gives the same numbers in each run; without one they come from the run's.
#include <bit>
#include <cmath>

#include "stoker/api/onnx/core/narrow_floats.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::random {
namespace {

namespace draw = stoker::random;

Tensor key_of(const Call& call) {
  const Attribute* const seed = call.node().find("seed");
  if (seed == nullptr) return call.walker().random_key({});
  // Dropout's is an integer, that of others a float.
  if (const auto* whole = std::get_if<std::int64_t>(&seed->value))
    return call.walker().random_key(static_cast<std::uint64_t>(*whole));
  return call.walker().random_key(std::bit_cast<std::uint32_t>(call.node().real("seed")));
}

enum class Kind { uniform, normal };

Value drawn(const Call& call, Kind kind, const Shape& shape, ElementType type) {
  const auto dtype = carrier_of(type);
  if (!dtype || !is_float(*dtype))
    call.refuse(ErrorCode::unsupported, "of the type " + std::string{to_string(type)});
  const Node& node = call.node();
  const DType computed = size_of(*dtype) < 4 ? DType::f32 : *dtype;
  const Tensor key = key_of(call);
  const Tensor y =
      kind == Kind::uniform
          ? draw::uniform_split(key, shape, node.real("low", 0), node.real("high", 1), computed)
          : draw::normal_split(key, shape, node.real("mean", 0), node.real("scale", 1), computed);
  return {as_type(y, *dtype), type};
}

void add_drawing(OperatorTable& table, const char* name, Kind kind, bool is_like) {
  const char* const first = kind == Kind::uniform ? "low" : "mean";
  const char* const second = kind == Kind::uniform ? "high" : "scale";
  table.add({.name = name,
             .since = {1, 22},
             .least_inputs = is_like ? 1U : 0U,
             .most_inputs = is_like ? 1U : 0U,
             .types = {.operands = {any_type},
                       .results = {first_of(NamedBy{"dtype"},
                                            is_like ? TypeSource{like(0)} : ElementType::f32)}},
             .attributes = {first, second, "dtype", "seed", "shape"},
             .lower =
                 [kind, is_like](Call& call) {
                   const ElementType type =
                       call.node().element_type("dtype", is_like ? call.type() : ElementType::f32);
                   const Shape shape =
                       is_like ? call.shape() : shape_of(call.node().integers("shape", {}));
                   return Values{drawn(call, kind, shape, type)};
                 },
             .random = true});
}

/// Elements stay with the probability 1 - ratio and are divided by that.
Values dropout(Call& call) {
  const double ratio = call.has(1)                ? call.real(1)
                       : call.node().has("ratio") ? static_cast<double>(call.node().real("ratio"))
                                                  : 0.5;
  const bool training = call.version() < 7 ? !call.node().flag("is_test", false)
                        : call.has(2)      ? call.integer(2) != 0
                                           : false;
  // Before version 10 the mask has the type of the operand.
  const auto mask = [&](const Tensor& kept) {
    return call.version() < 10 ? call.like(kept) : Call::condition(kept);
  };
  if (!training || ratio == 0) return {call.input(0), mask(ones(call.shape(), DType::u8))};
  for (std::size_t i = 0; i < 2; ++i)
    if (call.has(i) && is_narrow_float(call.type(i)))
      call.refuse(ErrorCode::unsupported, "training in " + std::string{to_string(call.type(i))});
  if (!(ratio >= 0 && ratio < 1))
    call.refuse(ErrorCode::invalid_parameter, "ratio must be in [0, 1)");
  const Tensor kept = greater_equal(draw::uniform_split(key_of(call), call.shape()), ratio);
  const Tensor x = call.x();
  return {call.like(select(kept, x / (1 - ratio), zeros_like(x))), mask(kept)};
}

Values bernoulli(Call& call) {
  const ElementType type = call.node().element_type("dtype", call.type());
  const auto dtype = carrier_of(type);
  if (!dtype) call.refuse(ErrorCode::unsupported, "of the type " + std::string{to_string(type)});
  const Tensor y = less(draw::uniform_split(key_of(call), call.shape()), call.x());
  return {Value{as_type(y, *dtype), type}};
}

/// Classes by unnormalized logarithms of their probabilities: the largest after Gumbel noise is added.
Values multinomial(Call& call) {
  if (call.rank() != 2) call.refuse(ErrorCode::shape_mismatch, "expected [batch, classes]");
  const std::int64_t samples = call.node().integer("sample_size", 1);
  const ElementType type = call.node().element_type("dtype", ElementType::s32);
  if (type != ElementType::s32 && type != ElementType::s64)
    call.refuse(ErrorCode::unsupported, "of the type " + std::string{to_string(type)});
  const Shape& shape = call.shape();
  const Tensor noise = draw::gumbel_split(key_of(call), Shape{shape[0], samples, shape[1]});
  const Tensor best = argmax(new_axis(as_type(call.x(), DType::f32), 1) + noise, {.axis = 2});
  return {Value{as_type(best, *carrier_of(type)), type}};
}

}  // namespace

void define(OperatorTable& table) {
  add_drawing(table, "RandomUniform", Kind::uniform, false);
  add_drawing(table, "RandomUniformLike", Kind::uniform, true);
  add_drawing(table, "RandomNormal", Kind::normal, false);
  add_drawing(table, "RandomNormalLike", Kind::normal, true);
  table.add({.name = "Dropout",
             .since = {1, 6, 7, 10, 12, 13, 22},
             .most_inputs = 3,
             .most_outputs = 2,
             .types = {.operands = {float_types | float8_types, float_types | float8_types,
                                    ElementType::boolean},
                       .results = {like(0), ElementType::undefined}},
             .attributes = {"ratio", "seed", "is_test", "consumed_inputs"},
             .decides = {1, 2},
             .lower = &dropout,
             .random = true});
  table.add({.name = "Bernoulli",
             .since = {15, 22},
             .types = {.operands = {float_types}, .results = {first_of(NamedBy{"dtype"}, like(0))}},
             .attributes = {"dtype", "seed"},
             .lower = &bernoulli,
             .random = true});
  table.add({.name = "Multinomial",
             .since = {7, 22},
             .types = {.operands = {float_types},
                       .results = {first_of(NamedBy{"dtype"}, ElementType::s32)}},
             .attributes = {"dtype", "sample_size", "seed"},
             .lower = &multinomial,
             .random = true});
}

}  // namespace stoker::onnx::operators::random
