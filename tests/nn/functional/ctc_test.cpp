// Connectionist temporal classification against the sum over all paths.
#include <cmath>
#include <limits>

#include "stoker/api/nn/functional/loss.hpp"
#include "stoker/api/nn/functional/losses.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

using Ctc = Tensors;
using CtcOnDevices = TensorsOnDevices;
INSTANTIATE_TEST_SUITE_P(Devices, CtcOnDevices, every_device(), device_name);
using losses::connectionist_temporal_classification;
using Labels = std::vector<std::int32_t>;

/// What a path spells: no repetitions, then no blanks.
Labels spelled(const Labels& path, int blank) {
  Labels made;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (path[i] != blank && (i == 0 || path[i] != path[i - 1])) made.push_back(path[i]);
  return made;
}

/// Over every path through `frames` rows of logarithms.
double by_enumeration(const Labels& labels, const std::vector<double>& log_p, std::int64_t frames,
                      int classes, int blank = 0) {
  double total = 0;
  Labels path(static_cast<std::size_t>(frames), 0);
  while (true) {
    if (spelled(path, blank) == labels) {
      double sum = 0;
      for (std::size_t i = 0; i < path.size(); ++i)
        sum += log_p[i * static_cast<std::size_t>(classes) + static_cast<std::size_t>(path[i])];
      total += std::exp(sum);
    }
    std::size_t at = 0;
    while (at < path.size() && ++path[at] == classes) path[at++] = 0;
    if (at == path.size()) return -std::log(total);
  }
}

Tensor frames_of(std::int64_t batch, std::int64_t frames, std::int64_t classes) {
  return log_softmax(sample({batch, frames, classes}, -2, 2));
}

TEST_F(Ctc, is_the_sum_over_all_paths) {
  constexpr std::int64_t frames = 5;
  constexpr int classes = 4;
  const std::vector<Labels> targets{{1, 2, 3},    {2, 2, -1}, {3, -1, -1},
                                    {-1, -1, -1}, {1, 2, 1},  {3, 3, 1}};
  const auto batch = static_cast<std::int64_t>(targets.size());
  const Tensor log_p = frames_of(batch, frames, classes);
  const std::vector<double> all = log_p.to_vector<double>();
  Labels flat;
  std::vector<double> want;
  for (const Labels& target : targets) {
    const auto row = static_cast<std::ptrdiff_t>(want.size()) * frames * classes;
    Labels labels;
    for (const std::int32_t label : target)
      if (label >= 0) labels.push_back(label);
    want.push_back(by_enumeration(labels, {all.begin() + row, all.begin() + row + frames * classes},
                                  frames, classes));
    flat.insert(flat.end(), target.begin(), target.end());
  }
  const Tensor target = tensor(flat, {batch, 3});
  expect_near(connectionist_temporal_classification(target, log_p), want, 1e-12);
  // The same with lengths, and whatever stands behind them.
  const Tensor lengths = tensor({3, 2, 1, 0, 3, 3});
  const Tensor filled = select(less(target, 0), 1, target);
  expect_near(connectionist_temporal_classification(filled, log_p, {.lengths = lengths}), want,
              1e-12);
  expect_near(connectionist_temporal_classification(target, as_type(log_p, DType::f32)), want,
              1e-5);
}

TEST_F(Ctc, takes_any_class_as_the_blank) {
  const Tensor log_p = frames_of(1, 4, 3);
  expect_near(connectionist_temporal_classification(tensor({{0, 1}}), log_p, {.blank = 2}),
              {by_enumeration({0, 1}, log_p.to_vector<double>(), 4, 3, 2)}, 1e-12);
}

TEST_F(Ctc, of_one_frame_is_that_of_its_label) {
  const Tensor log_p = frames_of(2, 1, 3);
  const std::vector<double> all = log_p.to_vector<double>();
  expect_near(connectionist_temporal_classification(tensor({{2}, {-1}}), log_p), {-all[2], -all[3]},
              1e-12);
}

TEST_F(Ctc, takes_logits_if_told) {
  const Tensor x = sample({2, 4, 3}, -2, 2);
  const Tensor target = tensor({{1, 2}, {2, -1}});
  expect_near(connectionist_temporal_classification(target, x, {.from_logits = true}),
              connectionist_temporal_classification(target, log_softmax(x)).to_vector<double>(),
              1e-12);
}

TEST_F(Ctc, has_a_gradient) {
  const Tensor target = tensor({{1, 1, 2}, {2, -1, -1}});
  expect_gradient(
      [&](const std::vector<Tensor>& x) {
        return connectionist_temporal_classification(target, x[0], {.from_logits = true});
      },
      {sample({2, 6, 3}, -2, 2)});
}

TEST_F(Ctc, is_infinite_without_a_slope_where_frames_are_too_few) {
  // Two equal labels take three frames: a blank stands between them.
  const Tensor target = tensor({{1, 1}, {1, 2}});
  const Tensor x = sample({2, 2, 3});
  const auto each = connectionist_temporal_classification(target, x, {.from_logits = true});
  const auto values = each.to_vector<double>();
  EXPECT_EQ(values[0], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(values[1]));
  const auto slope =
      grad([&](const Tensor& v) {
        return sum(connectionist_temporal_classification(target, v, {.from_logits = true}));
      })(x)
          .to_vector<double>();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(slope[i], 0);
  EXPECT_LT(slope[7], 0) << "the other one learns";
}

TEST_F(Ctc, allows_frames_without_some_classes) {
  const double never = -std::numeric_limits<double>::infinity();
  const Tensor log_p =
      tensor<double>({{{never, 0.0, never}, {std::log(0.25), never, std::log(0.75)}}});
  const Tensor target = tensor({{1, 2}});
  expect_near(connectionist_temporal_classification(target, log_p), {-std::log(0.75)}, 1e-12);
  const Tensor slope = grad([&](const Tensor& v) {
    return sum(connectionist_temporal_classification(target, v));
  })(log_p);
  expect_near(slope, {0, -1, 0, 0, 0, -1}, 1e-12);
}

TEST_F(Ctc, of_what_is_no_label_is_not_a_number) {
  const Tensor log_p = frames_of(5, 4, 3);
  const Tensor target = tensor({{1, 2}, {0, 1}, {3, 1}, {1, 0}, {1, 2}});
  const auto values =
      connectionist_temporal_classification(target, log_p, {.lengths = tensor({2, 2, 2, 1, 3})})
          .to_vector<double>();
  EXPECT_TRUE(std::isfinite(values[0]));
  EXPECT_TRUE(std::isnan(values[1])) << "the blank";
  EXPECT_TRUE(std::isnan(values[2])) << "no class";
  EXPECT_TRUE(std::isfinite(values[3])) << "beyond the length";
  EXPECT_TRUE(std::isnan(values[4])) << "longer than the target";
}

TEST_P(CtcOnDevices, of_long_sequences_does_not_vanish) {
  // 400 frames that are all alike: every path is as likely, 3^-400, far below what f32 can hold.
  const Tensor x = zeros({1, 400, 3});
  const auto value = connectionist_temporal_classification(tensor({{1}}), x, {.from_logits = true});
  // Blanks, then 1 or more labels, then blanks: 400·401/2 paths.
  expect_near(value, {400 * std::log(3) - std::log(400.0 * 401 / 2)}, 1e-5);
}

TEST_F(Ctc, is_a_loss_by_name) {
  const Tensor x = sample({2, 4, 3}, -2, 2);
  const Tensor target = tensor({{1, 2}, {2, -1}});
  const Loss made = loss("connectionist_temporal_classification(from_logits=true)");
  const Tensor each = connectionist_temporal_classification(target, x, {.from_logits = true});
  expect_near(made.of(target, x), {mean(each).item<double>()}, 1e-12);
  expect_near(jit(made.of)(target, x), {mean(each).item<double>()}, 1e-12);
}

TEST_F(Ctc, of_each_sequence_is_that_of_a_batch) {
  const Tensor log_p = frames_of(3, 4, 3);
  const Tensor target = tensor({{1, 2}, {2, -1}, {1, 1}});
  const auto one = [](const Tensor& t, const Tensor& p) {
    return squeeze(connectionist_temporal_classification(new_axis(t, 0), new_axis(p, 0)));
  };
  expect_near(vmap(one)(target, log_p),
              connectionist_temporal_classification(target, log_p).to_vector<double>(), 1e-12);
}

TEST_F(Ctc, refuses_other_forms) {
  const auto of = [](const Tensor& target, const Tensor& prediction,
                     const losses::CtcOptions& options = {}) {
    return error_of(
        [&] { return connectionist_temporal_classification(target, prediction, options); });
  };
  const Tensor labels = zeros({2, 3}, DType::s32);
  const Tensor frames = zeros({2, 4, 5});
  EXPECT_EQ(of(labels, zeros({2, 5})).reason(),
            "expected a prediction [batch, frames, classes], got f32[2,5]");
  EXPECT_EQ(of(zeros({3, 3}, DType::s32), frames).reason(),
            "expected a target [2, labels], got s32[3,3]");
  EXPECT_EQ(of(zeros({2, 3}), frames).code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(of(labels, frames, {.lengths = tensor({1})}).code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(of(labels, frames, {.lengths = tensor({1.0, 2.0})}).code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(of(labels, frames, {.blank = 5}).reason(), "blank: expected a class, 0 to 4, got 5");
}

}  // namespace
}  // namespace stoker::nn
