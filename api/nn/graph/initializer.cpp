#include "stoker/api/nn/graph/initializer.hpp"

#include <algorithm>
#include <cmath>

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

using Table = NamedTable<Initializer>;

using initializers::Distribution;
using initializers::Fan;

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

Initializer scaled(const initializers::VarianceScaling& how) {
  return [how](const Tensor& key, const Shape& shape, DType dtype) {
    const Fans of = fans(shape);
    const double fan = how.mode == Fan::in    ? of.in
                       : how.mode == Fan::out ? of.out
                                              : (of.in + of.out) / 2;
    const double deviation = std::sqrt(how.scale / std::max(fan, 1.0));
    const DType drawn = drawn_dtype(dtype);
    if (how.distribution == Distribution::uniform) {
      const double limit = deviation * std::sqrt(3.0);
      return as_type(random::uniform(key, shape, -limit, limit, drawn).values, dtype);
    }
    const Tensor normal = how.distribution == Distribution::normal
                              ? random::normal(key, shape, 0, 1, drawn).values
                              : truncated_normal(key, shape, drawn);
    return as_type(normal * deviation, dtype);
  };
}

template <class O> Table::Entry scaling(const char* summary, Fan mode, Distribution distribution) {
  return Table::entry<O>(summary, [=](const O& options) {
    return scaled({.scale = options.scale, .mode = mode, .distribution = distribution});
  });
}

Initializer make_full(const initializers::Full& options) {
  return [value = double{options.value}](const Tensor&, const Shape& shape, DType dtype) {
    return full(shape, value, dtype);
  };
}

Initializer make_uniform(const initializers::Uniform& options) {
  return [scale = options.scale](const Tensor& key, const Shape& shape, DType dtype) {
    return as_type(random::uniform(key, shape, -scale, scale, drawn_dtype(dtype)).values, dtype);
  };
}

Initializer make_normal(const initializers::Normal& options) {
  return [mean = options.mean, scale = options.scale](const Tensor& key, const Shape& shape,
                                                      DType dtype) {
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

Initializer make_orthogonal(const initializers::Orthogonal& options) {
  return [uniform = options.distribution == Distribution::uniform](
             const Tensor& key, const Shape& shape, DType dtype) {
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
  static constinit NeverDestroyed<Table> all;
  return all.get([] {
    return Table{
        "initializer",
        {
            {{"zeros", "0"},
             [](const ParamSet&) -> Initializer {
               return [](const Tensor&, const Shape& shape, DType dtype) {
                 return zeros(shape, dtype);
               };
             }},
            {{"ones", "1"},
             [](const ParamSet&) -> Initializer {
               return [](const Tensor&, const Shape& shape, DType dtype) {
                 return ones(shape, dtype);
               };
             }},
            Table::entry<initializers::Full>("the same number in every element", &make_full),
            {{"identity", "an identity matrix in the last two axes, which have equal extents"},
             &make_identity},
            Table::entry<initializers::Uniform>("uniform within ±scale", &make_uniform),
            Table::entry<initializers::Normal>("normal", &make_normal),
            scaling<initializers::LecunUniform>("uniform, with variance scale/fan_in", Fan::in,
                                                Distribution::uniform),
            scaling<initializers::LecunNormal>("truncated normal, with variance scale/fan_in",
                                               Fan::in, Distribution::truncated_normal),
            scaling<initializers::GlorotUniform>("uniform, with variance scale/fan_avg",
                                                 Fan::average, Distribution::uniform),
            scaling<initializers::GlorotNormal>("truncated normal, with variance scale/fan_avg",
                                                Fan::average, Distribution::truncated_normal),
            scaling<initializers::HeUniform>("uniform, with variance scale/fan_in", Fan::in,
                                             Distribution::uniform),
            scaling<initializers::HeNormal>("truncated normal, with variance scale/fan_in", Fan::in,
                                            Distribution::truncated_normal),
            Table::entry<initializers::VarianceScaling>("random numbers with variance scale/fan",
                                                        &scaled),
            Table::entry<initializers::Orthogonal>("orthonormal rows or columns", &make_orthogonal),
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

std::vector<NamedKind> initializer_kinds() { return table().kinds(); }

Initializer initializer(const InitializerName& wanted) { return table().make(wanted); }

}  // namespace stoker::nn
