// Rows with random access, their division in two, and what is wrong with them.
#include <cstring>
#include <limits>
#include <set>

#include "stoker/api/data/checks.hpp"
#include "stoker/api/data/dataset.hpp"
#include "stoker/api/data/loader.hpp"
#include "stoker/api/data/row_order.hpp"
#include "stoker/api/data/split.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Datasets : public Tensors {
 protected:
  /// Row i: {10·i, 10·i + 1}, and the target i.
  static Dataset ten() {
    std::vector<float> x;
    std::vector<std::int32_t> y;
    for (int i = 0; i < 10; ++i) {
      x.insert(x.end(), {10.F * static_cast<float>(i), 10.F * static_cast<float>(i) + 1});
      y.push_back(i);
    }
    return {tensor(x, Shape{10, 2}), tensor(y)};
  }
  static std::vector<int> targets_of(const Dataset& data) {
    return whole_batch(data).targets[0].to_vector<int>();
  }
};

TEST_F(Datasets, tensors_give_rows_in_any_order_and_several_times) {
  const std::vector<std::int64_t> indices{3, 0, 3};
  const Batch batch = to_batch(ten().rows(indices));
  EXPECT_EQ(batch.rows, 3);
  expect_values<float>(batch.inputs[0], {3, 2}, {30, 31, 0, 1, 30, 31});
  expect_values<std::int32_t>(batch.targets[0], {3}, {3, 0, 3});
}

TEST_F(Datasets, several_inputs_and_targets_are_kept_apart) {
  const Dataset data{{tensor({1.0, 2.0}), tensor({{3, 4}, {5, 6}})}, {tensor({7.0, 8.0})}};
  EXPECT_EQ(data.specs().inputs[0], (TensorSpec{DType::f32, {}}));
  EXPECT_EQ(data.specs().inputs[1], (TensorSpec{DType::s32, {2}}));
  const std::vector<std::int64_t> last{1};
  const Batch batch = to_batch(data.rows(last));
  expect_values<float>(batch.inputs[0], {1}, {2});
  expect_values<std::int32_t>(batch.inputs[1], {1, 2}, {5, 6});
  expect_values<float>(batch.targets[0], {1}, {8});
}

TEST_F(Datasets, stats_say_how_many_and_of_what) {
  const DatasetStats found = stats(ten());
  EXPECT_EQ(found.num_samples, 10);
  EXPECT_EQ(found.inputs[0].to_string(), "f32[10,2]");
  EXPECT_EQ(found.targets[0].to_string(), "s32[10]");
}

TEST_F(Datasets, a_subset_of_a_subset_names_rows_of_the_subset) {
  const Dataset odd = ten().subset({1, 3, 5, 7, 9});
  EXPECT_EQ(targets_of(odd.subset({4, 0})), (std::vector<int>{9, 1}));
  EXPECT_EQ(odd.subset({}).size(), 0);
}

TEST_F(Datasets, indices_out_of_range_are_refused) {
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{10}}) {
    const std::vector<std::int64_t> indices{bad};
    EXPECT_EQ(code_of([&] { return ten().rows(indices); }), ErrorCode::invalid_argument) << bad;
    EXPECT_EQ(code_of([&] { return ten().subset({bad}); }), ErrorCode::invalid_argument) << bad;
  }
  const std::vector<std::int64_t> sixth{5};
  EXPECT_EQ(error_of([&] { return ten().subset({1, 2}).rows(sixth); }).reason(), "row 5 of 2 rows");
}

TEST_F(Datasets, memory_of_another_size_is_refused) {
  std::vector<std::byte> x(7);
  std::vector<std::byte> y(4);
  const std::vector<std::int64_t> one{0};
  const Error error = error_of([&] {
    ten().rows(one, {{x}, {y}});
    return 0;
  });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.reason(), "expected 8 bytes for 1 rows of f32[2], got 7");
  EXPECT_EQ(code_of([&] {
              ten().rows(one, {{}, {y}});
              return 0;
            }),
            ErrorCode::invalid_argument);
}

TEST_F(Datasets, different_numbers_of_rows_are_refused) {
  const Error error = error_of([] { return Dataset{tensor({1.0, 2.0}), tensor({1.0})}; });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.reason(), "target f32[1] has 1 rows, the first input has 2");
  EXPECT_EQ(code_of([] { return Dataset{tensor(1.0), tensor(1.0)}; }), ErrorCode::shape_mismatch);
}

TEST_F(Datasets, rows_without_elements_are_refused) {
  EXPECT_EQ(code_of([] {
              return Dataset{zeros({5, 0}), zeros({5, 0, 3})};
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ((Dataset{zeros({0, 4}), zeros({0})}).size(), 0);
  EXPECT_EQ((Dataset{zeros({5, 0}), zeros({5})}).size(), 5);
}

TEST_F(Datasets, a_function_fills_row_by_row) {
  const Dataset squares = dataset_from_function(
      1000, {{{DType::s64, {}}}, {{DType::s64, {}}}}, [](std::int64_t row, const RowsInto& into) {
        const std::int64_t square = row * row;
        std::memcpy(into.inputs[0].data(), &row, sizeof row);
        std::memcpy(into.targets[0].data(), &square, sizeof square);
      });
  const std::vector<std::int64_t> indices{999, 12};
  const Batch batch = to_batch(squares.rows(indices));
  expect_values<std::int64_t>(batch.inputs[0], {2}, {999, 12});
  expect_values<std::int64_t>(batch.targets[0], {2}, {998001, 144});
  EXPECT_EQ(code_of([] { return dataset_from_function(-1, {}, [](auto, const auto&) {}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return dataset_from_function(1, {}, {}); }), ErrorCode::invalid_argument);
}

TEST_F(Datasets, split_takes_a_fifth_from_the_end_without_shuffle) {
  const auto [train, validation] = split(ten(), {.shuffle = false});
  EXPECT_EQ(targets_of(train), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(targets_of(validation), (std::vector<int>{8, 9}));
}

TEST_F(Datasets, split_rounds_halves_up) {
  EXPECT_EQ(split(ten(), {.val_split = 0.25}).validation.size(), 3);
  EXPECT_EQ(split(ten(), {.val_split = 0.24}).validation.size(), 2);
  EXPECT_EQ(split(ten(), {.val_split = 0}).validation.size(), 0);
  EXPECT_EQ(split(ten(), {.val_split = 1}).train.size(), 0);
}

TEST_F(Datasets, split_loses_no_row_keeps_pairs_and_repeats_with_its_seed) {
  const auto [train, validation] = split(ten(), {.seed = 5});
  const auto again = split(ten(), {.seed = 5});
  EXPECT_EQ(targets_of(train), targets_of(again.train));
  EXPECT_NE(targets_of(train), targets_of(split(ten(), {.seed = 6}).train));
  std::set<int> all;
  for (const Dataset& part : {train, validation}) {
    const Batch batch = whole_batch(part);
    const auto x = batch.inputs[0].to_vector<int>();
    const auto y = batch.targets[0].to_vector<int>();
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(x[2 * i], 10 * y[i]);
    all.insert(y.begin(), y.end());
  }
  EXPECT_EQ(all.size(), 10U);
}

TEST_F(Datasets, split_refuses_shares_outside_0_to_1) {
  for (const double bad : {-0.1, 1.5, std::nan("")})
    EXPECT_EQ(code_of([&] { return split(ten(), {.val_split = bad}); }),
              ErrorCode::invalid_parameter)
        << bad;
}

TEST(RowOrder, every_place_gets_every_row_about_equally_often) {
  // 8 rows, 8000 epochs: 1000 expected in each cell, deviation sqrt(8000·1/8·7/8) = 29.6.
  std::vector<int> counts(64);
  for (std::uint64_t epoch = 0; epoch < 8000; ++epoch) {
    const auto order = shuffled_rows(8, 3, epoch);
    for (std::size_t place = 0; place < 8; ++place)
      ++counts[place * 8 + static_cast<std::size_t>(order[place])];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 5 * 29.6);
}

TEST(RowOrder, seeds_and_epochs_that_follow_each_other_share_nothing) {
  EXPECT_EQ(shuffled_rows(50, 1, 2), shuffled_rows(50, 1, 2));
  EXPECT_NE(shuffled_rows(50, 1, 2), shuffled_rows(50, 2, 1));
  EXPECT_NE(shuffled_rows(50, 1, 2), shuffled_rows(50, 1, 3));
  EXPECT_TRUE(shuffled_rows(0, 1, 2).empty());
}

TEST_F(Datasets, good_rows_pass_the_check) {
  check_rows(ten(), {.num_classes = 10});
  check_rows(tensor({{1.0}, {2.0}}), tensor({0, 1}), {.num_classes = 2});
}

TEST_F(Datasets, the_check_names_row_and_array_of_what_is_not_finite) {
  std::vector<float> values(3 * 300);
  values[3 * 290 + 2] = std::numeric_limits<float>::quiet_NaN();
  const Tensor y = zeros(Shape{300});
  const Error error = error_of([&] {
    check_rows(tensor(values, Shape{300, 3}), y);
    return 0;
  });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.reason(), "NaN in row 290 of input 0");
  EXPECT_EQ(error.detail("element"), "2");
  const Error other = error_of([&] {
    check_rows(tensor({1.0, 2.0}), tensor({1.0, -HUGE_VAL}));
    return 0;
  });
  EXPECT_EQ(other.reason(), "an infinity in row 1 of target 0");
  check_rows(tensor({1.0, 2.0}), tensor({1.0, -HUGE_VAL}), {.finite = false});
}

TEST_F(Datasets, the_check_names_classes_that_are_none) {
  const Error high = error_of([] {
    check_rows(tensor({1.0, 2.0, 3.0}), tensor({0, 3, 1}), {.num_classes = 3});
    return 0;
  });
  EXPECT_EQ(high.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(high.reason(), "class 3 of 3 classes in row 1 of target 0");
  EXPECT_EQ(code_of([] {
              check_rows(tensor({1.0}), tensor({-1}), {.num_classes = 3});
              return 0;
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] {
              check_rows(tensor({1.0}), tensor({1.0}), {.num_classes = 3});
              return 0;
            }),
            ErrorCode::dtype_mismatch);
}

TEST_F(Datasets, the_check_refuses_sets_without_rows_and_rows_without_partners) {
  EXPECT_EQ(error_of([] {
              check_rows(zeros(Shape{0, 2}), zeros(Shape{0}));
              return 0;
            }).reason(),
            "the dataset has no rows");
  EXPECT_EQ(code_of([] {
              check_rows(zeros(Shape{3, 2}), zeros(Shape{2}));
              return 0;
            }),
            ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker::nn
