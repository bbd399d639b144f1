// Layers that leave out some of what passes while training, so that nothing is relied on too much
// (Srivastava et al., JMLR 15, 2014). What is left is scaled by 1/(1 - rate), so inference changes nothing.
#include <cmath>

#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/random.hpp"

namespace stoker::nn::layers::dropout {
namespace {

ParamSpec rate_option() {
  return {.name = "rate",
          .type = ParamType::real,
          .fallback = 0.5,
          .doc = "how much is left out, 0 to below 1",
          .min = 0,
          .max = 1};
}

double rate_of(const char* op, const LayerCall& call) {
  const double rate = call.options().real("rate");
  if (rate < 1) return rate;
  throw Error{op,
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
    shape = Shape::make(extents, "dropout").value();
  }
  return greater_equal(random::uniform(call.key(), shape).values, rate);
}

LayerDefinition scaled(const char* name, const char* summary, bool whole_channels) {
  return {.name = name,
          .summary = summary,
          .options = {rate_option()},
          .apply = [name, whole_channels](LayerCall& call) {
            const double rate = rate_of(name, call);
            if (!call.training() || rate == 0) return std::vector<Tensor>{call.x()};
            return std::vector<Tensor>{
                select(kept(call, rate, whole_channels), call.x() * (1 / (1 - rate)), 0.0)};
          }};
}

/// What is left out becomes the value that SELU takes for minus infinity, and the rest is moved so that
/// mean and variance stay (Klambauer et al., arXiv:1706.02515).
LayerDefinition alpha(const char* name, const char* summary, bool whole_channels) {
  return {.name = name,
          .summary = summary,
          .options = {rate_option()},
          .apply = [name, whole_channels](LayerCall& call) {
            constexpr double lowest = -1.6732632423543772848 * 1.0507009873554804934;
            const double rate = rate_of(name, call);
            if (!call.training() || rate == 0) return std::vector<Tensor>{call.x()};
            const double keep = 1 - rate;
            const double a = 1 / std::sqrt(keep + lowest * lowest * keep * rate);
            const double b = -a * lowest * rate;
            return std::vector<Tensor>{
                select(kept(call, rate, whole_channels), call.x(), lowest) * a + b};
          }};
}

}  // namespace

void define(LayerTable& table) {
  table.add(scaled("dropout", "each element is left out with that probability", false));
  table.add(scaled("spatial_dropout", "whole channels are left out", true));
  table.add(alpha("alpha_dropout", "leaves out elements and keeps SELU's statistics", false));
  table.add(
      alpha("feature_alpha_dropout", "leaves out channels and keeps SELU's statistics", true));
}

}  // namespace stoker::nn::layers::dropout
