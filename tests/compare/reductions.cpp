// Reductions, scans along axes, normalizations and windows.
#include <algorithm>

#include "families.hpp"

namespace stoker::compare {
namespace {

struct Fold {
  const char* name;
  Tensor (*function)(const Tensor&, const Reduce&);
  bool floats = false;
};

Tensor variance_of(const Tensor& x, const Reduce& over) { return variance(x, over); }
Tensor deviation_of(const Tensor& x, const Reduce& over) { return standard_deviation(x, over); }
Tensor norm_of(const Tensor& x, const Reduce& over) { return linalg::norm(x, {}, over); }

const std::vector<Fold> folds{
    {"sum", &sum},
    {"product", &product},
    {"mean", &mean},
    {"variance", &variance_of},
    {"standard_deviation", &deviation_of},
    {"reduce_max", &reduce_max},
    {"reduce_min", &reduce_min},
    {"all", &all},
    {"any", &any},
    {"logsumexp", [](const Tensor& x, const Reduce& over) { return logsumexp(x, over); }, true},
    {"norm", &norm_of, true}};

struct Scan {
  const char* name;
  Tensor (*function)(const Tensor&, std::int64_t, bool);
};
const std::vector<Scan> scans{{"cumulative_sum", &cumulative_sum},
                              {"cumulative_product", &cumulative_product},
                              {"cumulative_max", &cumulative_max},
                              {"cumulative_min", &cumulative_min}};

struct Sliding {
  const char* name;
  Tensor (*function)(const Tensor&, const Window&);
};
const std::vector<Sliding> windows{{"window_sum", &window_sum},
                                   {"window_product", &window_product},
                                   {"window_max", &window_max},
                                   {"window_min", &window_min},
                                   {"window_mean", &window_mean}};

Range range_of(Draw& draw, std::string_view name) {
  if (name.find("product") != std::string_view::npos) return Range::unit;
  const bool picks =
      name.find("max") != std::string_view::npos || name.find("min") != std::string_view::npos;
  return picks && draw.chance(0.5) ? Range::any : Range::moderate;
}

Way any_way(Draw& draw) { return draw.chance(0.15) ? Way::traced : Way::together; }

void fold(Draw& draw, Record& record) {
  const Fold& one = draw.of(folds);
  const DType dtype = one.floats ? draw.floating() : draw.number();
  const Shape shape = draw.array(4, 20000);
  Axes axes;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (draw.chance(0.5)) axes.push_back(static_cast<std::int64_t>(axis));
  if (axes.empty()) axes.push_back(draw.integer(0, static_cast<std::int64_t>(shape.rank()) - 1));
  const bool keep = draw.chance(0.5);
  record.add(
      one.name, {{"axes", axes}, {"keepdims", keep}},
      {draw.tensor({dtype, shape}, range_of(draw, one.name))},
      [&](const Tensors& x) {
        return Tensors{one.function(x[0], {axes, keep})};
      },
      any_way(draw));
}

void scan(Draw& draw, Record& record) {
  const Scan& one = draw.of(scans);
  const Shape shape = draw.array(3, 6000);
  const std::int64_t axis = draw.integer(0, static_cast<std::int64_t>(shape.rank()) - 1);
  const bool reverse = draw.chance(0.4);
  record.add(
      one.name, {{"axis", axis}, {"reverse", reverse}},
      {draw.tensor({draw.number(), shape}, range_of(draw, one.name))},
      [&](const Tensors& x) { return Tensors{one.function(x[0], axis, reverse)}; }, any_way(draw));
}

void normalize(Draw& draw, Record& record) {
  const Shape shape = draw.array(3, 6000);
  const std::int64_t axis = draw.integer(0, static_cast<std::int64_t>(shape.rank()) - 1);
  const Tensor x = draw.tensor({draw.floating(), shape}, Range::moderate);
  const double kind = draw.real(0, 1);
  const char* name = kind < 0.4 ? "softmax" : kind < 0.7 ? "log_softmax" : "layer_norm";
  record.add(
      name, {{"axis", axis}}, {x},
      [&](const Tensors& in) {
        return Tensors{kind < 0.4   ? softmax(in[0], axis)
                       : kind < 0.7 ? log_softmax(in[0], axis)
                                    : layer_norm(in[0], {}, {}, axis)};
      },
      any_way(draw));
}

void window(Draw& draw, Record& record) {
  const Sliding& one = draw.of(windows);
  const Shape shape = draw.array(3, 3000);
  Window how;
  how.strides = Axes{};
  how.dilations = Axes{};
  std::vector<std::pair<std::int64_t, std::int64_t>> padding;
  for (const std::int64_t extent : shape) {
    const std::int64_t dilation = draw.chance(0.2) ? 2 : 1;
    const std::int64_t low = draw.chance(0.3) ? 1 : 0, high = draw.chance(0.3) ? 1 : 0;
    const std::int64_t most = (extent + low + high - 1) / dilation + 1;
    how.dimensions.push_back(draw.integer(1, std::min<std::int64_t>(most, 5)));
    how.strides->push_back(draw.integer(1, 3));
    how.dilations->push_back(dilation);
    padding.emplace_back(low, high);
  }
  how.padding = padding;
  Json attributes{{"window", how.dimensions},
                  {"strides", *how.strides},
                  {"dilations", *how.dilations},
                  {"padding", padding}};
  record.add(
      one.name, std::move(attributes),
      {draw.tensor({draw.number(), shape}, range_of(draw, one.name))},
      [&](const Tensors& x) { return Tensors{one.function(x[0], how)}; }, any_way(draw));
}

}  // namespace

void reductions(Draw& draw, Record& record) {
  const double kind = draw.real(0, 1);
  if (kind < 0.45) return fold(draw, record);
  if (kind < 0.65) return scan(draw, record);
  if (kind < 0.85) return normalize(draw, record);
  window(draw, record);
}

}  // namespace stoker::compare
