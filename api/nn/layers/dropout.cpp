#include "stoker/api/nn/layers/dropout.hpp"

#include <cmath>

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/random.hpp"

namespace stoker::nn {
namespace layers::dropout {
namespace {

template <class O> double rate_of(const O& options) {
  if (options.rate < 1) return options.rate;
  throw Error{O::kind,
              ErrorCode::invalid_parameter,
              "rate: expected less than 1, got 1",
              {{"parameter", "rate"}, {"got", "1"}}};
}

/// Whether each element stays; `whole_channels`: all of a row's channel together, the last axis.
Tensor kept(const LayerCall& call, double rate, bool whole_channels) {
  Shape shape = call.x().shape();
  if (whole_channels) {
    std::vector<std::int64_t> extents(shape.begin(), shape.end());
    for (std::size_t axis = 1; axis + 1 < extents.size(); ++axis) extents[axis] = 1;
    shape = Shape::make(extents, "dropout");
  }
  return greater_equal(random::uniform(call.key(), shape).values, rate);
}

template <class O> void add_scaled(LayerTable& table, const char* summary, bool whole_channels) {
  table.add<O>({.summary = summary, .apply = [whole_channels](LayerCall& call, const O& options) {
                  const double rate = rate_of(options);
                  if (!call.training() || rate == 0) return std::vector<Tensor>{call.x()};
                  return std::vector<Tensor>{
                      select(kept(call, rate, whole_channels), call.x() * (1 / (1 - rate)), 0.0)};
                }});
}

/// What is left out becomes the value that SELU takes for minus infinity, and the rest is moved so that
/// mean and variance stay (Klambauer et al., arXiv:1706.02515).
template <class O> void add_alpha(LayerTable& table, const char* summary, bool whole_channels) {
  table.add<O>({.summary = summary, .apply = [whole_channels](LayerCall& call, const O& options) {
                  constexpr double lowest = -1.6732632423543772848 * 1.0507009873554804934;
                  const double rate = rate_of(options);
                  if (!call.training() || rate == 0) return std::vector<Tensor>{call.x()};
                  const double keep = 1 - rate;
                  const double a = 1 / std::sqrt(keep + lowest * lowest * keep * rate);
                  const double b = -a * lowest * rate;
                  return std::vector<Tensor>{
                      select(kept(call, rate, whole_channels), call.x(), lowest) * a + b};
                }});
}

}  // namespace

void define(LayerTable& table) {
  add_scaled<Dropout>(table, "drops elements with probability rate while training", false);
  add_scaled<SpatialDropout>(table, "drops whole channels with probability rate while training",
                             true);
  add_alpha<AlphaDropout>(
      table, "drops elements while training and keeps mean and variance, for networks of SELU",
      false);
  add_alpha<FeatureAlphaDropout>(
      table,
      "drops whole channels while training and keeps mean and variance, for networks of SELU",
      true);
}

}  // namespace layers::dropout

Node dropout(const Node& x, double rate, layers::Dropout options) {
  give(options, &layers::Dropout::rate, rate);
  return Layer{options}(x);
}

}  // namespace stoker::nn
