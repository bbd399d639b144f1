#include "stoker/api/nn/graph/initializer.hpp"

#include <algorithm>
#include <cmath>

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

using Table = NamedTable<Initializer>;

ParamSpec real(const char* name, std::optional<double> fallback) {
  ParamSpec spec{
      .name = name, .type = ParamType::real, .fallback = {}, .doc = "see initializer.hpp"};
  if (fallback) spec.fallback = *fallback;
  return spec;
}
ParamSpec positive(const char* name, double fallback) {
  ParamSpec spec = real(name, fallback);
  spec.min = 0;
  return spec;
}
ParamSpec choice(const char* name, const char* fallback, std::vector<std::string> choices) {
  return {.name = name,
          .type = ParamType::text,
          .fallback = std::string{fallback},
          .doc = "see initializer.hpp",
          .choices = std::move(choices)};
}

/// Numbers are drawn as f32, or as f64 where that is wanted, and then rounded.
DType drawn_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Normal within two deviations, of deviation 1: Φ⁻¹ of what is uniform between Φ(-2) and Φ(2).
Tensor truncated_normal(const Tensor& key, const Shape& shape, DType dtype) {
  const double edge = std::erf(std::sqrt(2.0));      // Φ(2) - Φ(-2)
  constexpr double deviation = 0.87962566103423978;  // of what is left
  const Tensor u = random::uniform(key, shape, -edge, edge, dtype).values;
  // Rounding may reach the edge, where the inverse still is finite.
  return clip(erf_inv(u) * std::sqrt(2.0), -2.0, 2.0) / deviation;
}

struct Scaling {
  double scale;
  std::string mode;
  std::string distribution;
};

Initializer scaled(Scaling how) {
  return [how = std::move(how)](const Tensor& key, const Shape& shape, DType dtype) {
    const Fans of = fans(shape);
    const double fan = how.mode == "fan_in"    ? of.in
                       : how.mode == "fan_out" ? of.out
                                               : (of.in + of.out) / 2;
    const double deviation = std::sqrt(how.scale / std::max(fan, 1.0));
    const DType drawn = drawn_dtype(dtype);
    if (how.distribution == "uniform") {
      const double limit = deviation * std::sqrt(3.0);
      return as_type(random::uniform(key, shape, -limit, limit, drawn).values, dtype);
    }
    const Tensor normal = how.distribution == "normal"
                              ? random::normal(key, shape, 0, 1, drawn).values
                              : truncated_normal(key, shape, drawn);
    return as_type(normal * deviation, dtype);
  };
}

Table::Entry scaling(const char* name, double scale, const char* mode, const char* distribution) {
  return {name, {positive("scale", scale)}, [=](const ParamSet& options) {
            return scaled({options.real("scale"), mode, distribution});
          }};
}

Initializer make_variance_scaling(const ParamSet& options) {
  return scaled({options.real("scale"), options.text("mode"), options.text("distribution")});
}

Initializer make_full(const ParamSet& options) {
  return [value = options.real("value")](const Tensor&, const Shape& shape, DType dtype) {
    return full(shape, value, dtype);
  };
}

Initializer make_uniform(const ParamSet& options) {
  return [scale = options.real("scale")](const Tensor& key, const Shape& shape, DType dtype) {
    return as_type(random::uniform(key, shape, -scale, scale, drawn_dtype(dtype)).values, dtype);
  };
}

Initializer make_normal(const ParamSet& options) {
  return [mean = options.real("mean"), scale = options.real("scale")](
             const Tensor& key, const Shape& shape, DType dtype) {
    return as_type(random::normal(key, shape, mean, scale, drawn_dtype(dtype)).values, dtype);
  };
}

Initializer make_identity(const ParamSet&) {
  return [](const Tensor&, const Shape& shape, DType dtype) {
    const std::size_t rank = shape.rank();
    if (rank < 2 || shape[rank - 1] != shape[rank - 2])
      throw Error{"identity",
                  ErrorCode::shape_mismatch,
                  "expected a square matrix, got " + shape.to_string(),
                  {{"shape", shape.to_string()}}};
    return eye(shape, dtype);
  };
}

Initializer make_orthogonal(const ParamSet& options) {
  return [uniform = options.text("distribution") == "uniform"](const Tensor& key,
                                                               const Shape& shape, DType dtype) {
    if (shape.rank() < 2)
      throw Error{"orthogonal",
                  ErrorCode::shape_mismatch,
                  "expected a matrix at least, got " + shape.to_string(),
                  {{"shape", shape.to_string()}}};
    const std::int64_t columns = shape[shape.rank() - 1];
    const std::int64_t rows = columns == 0 ? 0 : shape.elements() / columns;
    const Shape tall{std::max(rows, columns), std::min(rows, columns)};
    const DType drawn = drawn_dtype(dtype);
    const Tensor random = uniform ? random::uniform(key, tall, -1, 1, drawn).values
                                  : random::normal(key, tall, 0, 1, drawn).values;
    const auto [q, r] = linalg::qr(random);
    // Without the signs of r's diagonal the matrices would not be equally likely.
    const Tensor diagonal = take_diagonal(r);
    Tensor matrix = q * select(less(diagonal, 0.0), -1.0, 1.0);
    if (rows < columns) matrix = transpose(matrix);
    return as_type(reshape(matrix, shape), dtype);
  };
}

const Table& table() {
  const std::vector<std::string> distributions{"normal", "truncated_normal", "uniform"};
  static constinit NeverDestroyed<Table> all;
  return all.get([&] {
    return Table{
        "initializer",
        {
            {"zeros",
             {},
             [](const ParamSet&) -> Initializer {
               return [](const Tensor&, const Shape& shape, DType dtype) {
                 return zeros(shape, dtype);
               };
             }},
            {"ones",
             {},
             [](const ParamSet&) -> Initializer {
               return [](const Tensor&, const Shape& shape, DType dtype) {
                 return ones(shape, dtype);
               };
             }},
            {"full", {real("value", {})}, &make_full},
            {"identity", {}, &make_identity},
            {"uniform", {positive("scale", 0.01)}, &make_uniform},
            {"normal", {real("mean", 0), positive("scale", 0.01)}, &make_normal},
            scaling("lecun_uniform", 1, "fan_in", "uniform"),
            scaling("lecun_normal", 1, "fan_in", "truncated_normal"),
            scaling("glorot_uniform", 1, "fan_avg", "uniform"),
            scaling("glorot_normal", 1, "fan_avg", "truncated_normal"),
            scaling("he_uniform", 2, "fan_in", "uniform"),
            scaling("he_normal", 2, "fan_in", "truncated_normal"),
            {"variance_scaling",
             {positive("scale", 0.01), choice("mode", "fan_in", {"fan_in", "fan_out", "fan_avg"}),
              choice("distribution", "normal", distributions)},
             &make_variance_scaling},
            {"orthogonal",
             {choice("distribution", "normal", {"normal", "uniform"})},
             &make_orthogonal},
        }};
  });
}

}  // namespace

Fans fans(const Shape& kernel) {
  const std::size_t rank = kernel.rank();
  if (rank == 0) return {};
  if (rank == 1) return {static_cast<double>(kernel[0]), static_cast<double>(kernel[0])};
  double field = 1;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) field *= static_cast<double>(kernel[axis]);
  return {field * static_cast<double>(kernel[rank - 2]),
          field * static_cast<double>(kernel[rank - 1])};
}

Initializer initializer(const Named& wanted) { return table().make(wanted); }

}  // namespace stoker::nn
