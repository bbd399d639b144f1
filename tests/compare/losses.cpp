// Losses, one number for each row or all of them together.
#include "stoker/api/nn/functional/losses.hpp"
#include "families.hpp"
#include "layer_case.hpp"

namespace stoker::compare {
namespace {

namespace losses = nn::losses;

/// A loss of two tensors of one shape, and which numbers it is of.
struct Plain {
  const char* name;
  Tensor (*function)(const Tensor& target, const Tensor& prediction);
  Range target = Range::moderate;
  Range prediction = Range::moderate;
};
const std::vector<Plain> plain{
    {"hinge", &losses::hinge},
    {"categorical_hinge", &losses::categorical_hinge, Range::share},
    {"soft_margin", &losses::soft_margin},
    {"kl_divergence", &losses::kl_divergence, Range::share, Range::share},
    {"log_cosh", &losses::log_cosh},
    {"poisson", &losses::poisson, Range::positive, Range::positive},
    {"mean_absolute_error", &losses::mean_absolute_error},
    {"mean_squared_error", &losses::mean_squared_error}};

/// [batch, …, features].
Shape rows(Draw& draw, std::int64_t least = 1) {
  std::vector<std::int64_t> extents{draw.extent(33)};
  if (draw.chance(0.4)) extents.push_back(draw.extent(9));
  extents.push_back(std::max(least, draw.extent(65)));
  return shape_of(extents);
}

Range logits(Draw& draw) { return draw.chance(0.8) ? Range::moderate : Range::positive; }

/// Mostly like the prediction.
DType target_dtype(Draw& draw, DType prediction) {
  return draw.chance(0.7) ? prediction : draw.number();
}

struct Case {
  std::string name;
  Json options = Json::object();
  Tensors given;
  Json names = {};
};

/// With a reduction, or without one.
void add(Draw& draw, Record& record, Case one, const Function& each) {
  static const std::vector<losses::Reduction> all{losses::Reduction::none, losses::Reduction::none,
                                                  losses::Reduction::mean, losses::Reduction::sum};
  const losses::Reduction how = draw.of(all);
  one.options["reduction"] = how == losses::Reduction::none   ? "none"
                             : how == losses::Reduction::mean ? "mean"
                                                              : "sum";
  record.add(
      "loss." + one.name, {{"options", one.options}, {"names", one.names}}, one.given,
      [&](const Tensors& in) { return Tensors{losses::reduced(each(in)[0], how)}; },
      layer_way(draw));
}

void of_numbers(Draw& draw, Record& record) {
  const DType dtype = draw.chance(0.9) ? draw.floating() : draw.number();
  const Shape shape = rows(draw);
  const auto of = [&](Range target, Range prediction) {
    if (prediction == Range::moderate && draw.chance(0.2)) prediction = Range::positive;
    return Tensors{draw.tensor({target_dtype(draw, dtype), shape}, target),
                   draw.tensor({dtype, shape}, prediction)};
  };
  const double kind = draw.real(0, 1);
  if (kind < 0.6) {
    const Plain& one = draw.of(plain);
    return add(draw, record, {one.name, Json::object(), of(one.target, one.prediction)},
               [&](const Tensors& in) { return Tensors{one.function(in[0], in[1])}; });
  }
  if (kind < 0.75) {
    const double delta = draw.of(std::vector<double>{1, 0.3, 2.5});
    return add(draw, record, {"huber", {{"delta", delta}}, of(Range::moderate, Range::moderate)},
               [&](const Tensors& in) { return Tensors{losses::huber(in[0], in[1], delta)}; });
  }
  if (kind < 0.9) {
    const losses::CosineOptions how{
        .axes = {draw.integer(0, static_cast<std::int64_t>(shape.rank()) - 1)},
        .epsilon = draw.chance(0.3) ? 0.5 : 1e-6};
    return add(
        draw, record,
        {"cosine_similarity",
         {{"axes", how.axes}, {"epsilon", how.epsilon}},
         of(Range::moderate, Range::moderate)},
        [&](const Tensors& in) { return Tensors{losses::cosine_similarity(in[0], in[1], how)}; });
  }
  const DType scores = draw.floating();
  const double margin = draw.chance(0.5) ? 0 : 0.7;
  const auto score = [&] { return draw.tensor({scores, shape}, Range::moderate); };
  Tensors given{draw.tensor({target_dtype(draw, scores), shape}, Range::unit), score(), score()};
  add(draw, record, {"margin_ranking", {{"margin", margin}}, given}, [&](const Tensors& in) {
    return Tensors{losses::margin_ranking(in[0], in[1], in[2], margin)};
  });
}

void binary(Draw& draw, Record& record) {
  const DType dtype = draw.floating();
  const Shape shape = rows(draw);
  losses::BinaryOptions how{.from_logits = draw.chance(0.5)};
  if (draw.chance(0.4)) {
    how.negative_weight = draw.real(0.2, 3);
    how.positive_weight = draw.real(0.2, 3);
  }
  const DType target = draw.chance(0.3) ? DType::boolean : dtype;
  const Tensors given{draw.tensor({target, shape}, Range::share),
                      draw.tensor({dtype, shape}, how.from_logits ? logits(draw) : Range::share)};
  add(draw, record,
      {"binary_cross_entropy",
       {{"from_logits", how.from_logits},
        {"negative_weight", how.negative_weight},
        {"positive_weight", how.positive_weight}},
       given},
      [&](const Tensors& in) { return Tensors{losses::binary_cross_entropy(in[0], in[1], how)}; });
}

void categorical(Draw& draw, Record& record) {
  static const std::vector<DType> integers{DType::s32, DType::s64, DType::u8, DType::s8};
  const DType dtype = draw.floating();
  const Shape shape = rows(draw, 2);
  const std::size_t last = shape.rank() - 1;
  losses::CategoricalOptions how{.from_logits = draw.chance(0.6)};
  if (draw.chance(0.4)) how.label_smoothing = draw.real(0, 0.5);
  // Indices of classes, some of which there are not, or one number for each class.
  const bool index = draw.chance(0.5);
  Tensors given{index ? draw.integers({draw.of(integers), draw.chance(0.5) ? shape.without(last)
                                                                           : shape.with(last, 1)},
                                      0, shape[last] + (draw.chance(0.3) ? 1 : -1))
                      : draw.tensor({target_dtype(draw, dtype), shape}, Range::share),
                draw.tensor({dtype, shape}, how.from_logits ? logits(draw) : Range::share)};
  Json names{"x0", "x1"};
  if (draw.chance(0.3)) {
    names.push_back("class_weights");
    given.push_back(draw.tensor({dtype, {shape[last]}}, Range::share));
  }
  add(draw, record,
      {"categorical_cross_entropy",
       {{"from_logits", how.from_logits}, {"label_smoothing", how.label_smoothing}},
       given,
       names},
      [&](const Tensors& in) {
        losses::CategoricalOptions with = how;
        if (in.size() > 2) with.class_weights = in[2];
        return Tensors{losses::categorical_cross_entropy(in[0], in[1], with)};
      });
}

void sequences(Draw& draw, Record& record) {
  const std::int64_t batch = draw.extent(9), frames = draw.extent(17);
  const std::int64_t classes = draw.integer(2, 10);
  losses::CtcOptions how{.blank = draw.chance(0.7) ? 0 : draw.integer(0, classes - 1),
                         .from_logits = draw.chance(0.5)};
  // What is negative ends a target.
  const std::int64_t least = draw.of(std::vector<std::int64_t>{-1, 0, 1, 1});
  Tensors given{draw.integers({DType::s32, {batch, draw.integer(1, 6)}}, least,
                              std::max(least, classes - (draw.chance(0.9) ? 1 : 0))),
                draw.tensor({draw.floating(), {batch, frames, classes}}, Range::moderate)};
  Json names{"x0", "x1"};
  if (draw.chance(0.3)) {
    names.push_back("lengths");
    given.push_back(draw.integers({DType::u8, {batch}}, 0, 6));
  }
  add(draw, record,
      {"connectionist_temporal_classification",
       {{"blank", how.blank}, {"from_logits", how.from_logits}},
       given,
       names},
      [&](const Tensors& in) {
        losses::CtcOptions with = how;
        if (in.size() > 2) with.lengths = in[2];
        return Tensors{losses::connectionist_temporal_classification(in[0], in[1], with)};
      });
}

}  // namespace

void loss_functions(Draw& draw, Record& record) {
  const double kind = draw.real(0, 1);
  if (kind < 0.5) return of_numbers(draw, record);
  if (kind < 0.65) return binary(draw, record);
  if (kind < 0.85) return categorical(draw, record);
  sequences(draw, record);
}

}  // namespace stoker::compare
