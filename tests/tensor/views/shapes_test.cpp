// Tensors under other shapes and in other orders.
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using Shapes = Tensors;

TEST_F(Shapes, count_up) {
  expect_values<int>(iota({2, 3}), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_values<int>(iota_along({2, 3}, 0), {2, 3}, {0, 0, 0, 1, 1, 1});
  expect_values<int>(iota_along({2, 3}, -1), {2, 3}, {0, 1, 2, 0, 1, 2});
  expect_values<int>(eye(2), {2, 2}, {1, 0, 0, 1});
  expect_values<int>(tri(2, 3), {2, 3}, {1, 0, 0, 1, 1, 0});
  expect_near(linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1});
  expect_near(linspace(0, 1, 4, false), {0, 0.25, 0.5, 0.75});
  EXPECT_EQ(linspace(0, 1, 0).shape(), Shape{0});
  expect_values<float>(linspace(tensor({0.0, 10.0}), tensor({1.0, 20.0}), 3), {2, 3},
                       {0, 0.5, 1, 10, 15, 20});
  expect_values<float>(linspace(0, tensor({2.0, 4.0}), 2, false), {2, 2}, {0, 1, 0, 2});
  EXPECT_EQ(error_of([] { return linspace(0, 1, -1); }).code(), ErrorCode::invalid_parameter);
}

TEST_F(Shapes, are_read_through) {
  const Tensor x = iota({2, 3});
  expect_values<int>(transpose(x), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_values<int>(reverse(x), {2, 3}, {5, 4, 3, 2, 1, 0});
  expect_values<int>(reverse(x, Axes{1}), {2, 3}, {2, 1, 0, 5, 4, 3});
  expect_values<int>(slice(x, {0, 1}, {2, 2}), {2, 2}, {1, 2, 4, 5});
  expect_values<int>(slice(x, {5, 5}, {1, 2}), {1, 2}, {4, 5}) /* starts move so that it fits */;
  expect_values<int>(slice(iota({7}), {1}, {6}, Axes{2}), {3}, {1, 3, 5});
  expect_values<int>(reshape(transpose(x), {2, -1}), {2, 3}, {0, 3, 1, 4, 2, 5});
  expect_values<int>(tile(tensor({1, 2}), {2, 2}), {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2});
  expect_values<int>(broadcast(tensor({1, 2}), {2, 3}, {0}), {2, 3}, {1, 1, 1, 2, 2, 2});
  expect_values<int>(new_axis(tensor({1, 2}), -1) + tensor({10}), {2, 1}, {11, 12});
  expect_values<int>(squeeze(ones({1, 2, 1}, DType::s32)), {2}, {1, 1});
}

TEST_F(Shapes, strides_may_be_longer_than_the_axis) {
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  const Tensor x = iota({10});
  for (const std::int64_t stride : {std::int64_t{10}, far - 1, far}) {
    expect_values<int>(slice(x, {3}, {7}, Axes{stride}), {1}, {3});
    expect_values<int>(slice(x, {3}, {0}, Axes{stride}), {0}, {});
    expect_values<int>(slice_along_axis(x, 2, 8, 0, stride), {1}, {2});
    expect_values<int>(x[{Range{4, 10, stride}}], {1}, {4});
    expect_near(
        grad([&](const Tensor& v) { return sum(slice(v, {1}, {3}, Axes{stride})); })(ones({4})),
        {0, 1, 0, 0});
  }
  EXPECT_EQ(code_of([&] { return slice_along_axis(x, 1, far); }), ErrorCode::invalid_parameter);
}

TEST_F(Shapes, are_repeated_along_any_number_of_axes) {
  const Tensor x = reshape(iota({16}), {2, 1, 2, 1, 2, 2});
  const std::vector<std::int64_t> times{2, 3, 1, 2, 2, 3};
  const Tensor all = tile(x, times);
  EXPECT_EQ(all.shape(), (Shape{4, 3, 2, 2, 4, 6}));
  Tensor one_by_one = x;
  for (std::size_t axis = 0; axis < times.size(); ++axis)
    one_by_one = concatenate(std::vector<Tensor>(static_cast<std::size_t>(times[axis]), one_by_one),
                             static_cast<std::int64_t>(axis));
  EXPECT_EQ(all.to_vector<int>(), one_by_one.to_vector<int>());
  EXPECT_EQ(tile(ones({1, 1, 1, 1, 1, 1, 1, 1}), {2, 2, 2, 2, 2, 2, 2, 2}).size(), 256U);
  EXPECT_EQ(tile(x, {0, 1, 1, 1, 1, 2}).shape(), (Shape{0, 1, 2, 1, 2, 4}));
  EXPECT_EQ(code_of([&] { return tile(iota({10}), {std::numeric_limits<std::int64_t>::max()}); }),
            ErrorCode::invalid_argument);
}

TEST_F(Shapes, positions_may_be_of_any_integer_dtype) {
  const Tensor x = tensor({5, 6, 7});
  for (const DType dtype : {DType::u8, DType::s8, DType::u32, DType::s32, DType::u64, DType::s64})
    EXPECT_EQ((x[full({}, 2, dtype)].item<int>()), 7);
  EXPECT_EQ((x[full({}, -1, DType::s64)].item<int>()), 7);
  // Past the end, as 3 is: not from the end.
  EXPECT_EQ((x[full({}, std::numeric_limits<std::uint64_t>::max() - 1, DType::u64)].item<int>()),
            (x[full({}, 3, DType::u64)].item<int>()));
}

TEST_F(Shapes, permutations_undo_each_other) {
  const Tensor x = iota({2, 3, 4, 5});
  const Tensor there = transpose(x, Axes{2, 0, 3, 1});
  EXPECT_EQ(there.shape(), (Shape{4, 2, 5, 3}));
  EXPECT_EQ(transpose(there + 0, Axes{1, 3, 0, 2}).to_vector<int>(), x.to_vector<int>());
}

TEST_F(Shapes, views_of_views_are_read_in_one_go) {
  const Tensor x = iota({4, 6});
  const Tensor once = reverse(transpose(slice(x, {0, 1}, {4, 4}, Axes{1, 2})), Axes{0});
  expect_values<int>(once * 1, {2, 4}, {3, 9, 15, 21, 1, 7, 13, 19});
  const std::vector<int> apart = [&] {
    const Tensor a = slice(x, {0, 1}, {4, 4}, Axes{1, 2});
    a.eval();
    const Tensor b = transpose(a);
    b.eval();
    return reverse(b, Axes{0}).to_vector<int>();
  }();
  EXPECT_EQ(once.to_vector<int>(), apart);
}

TEST_F(Shapes, are_padded_and_cropped) {
  expect_values<int>(pad(tensor({1, 2}), 9, {{1, 2, 1}}), {6}, {9, 1, 9, 2, 9, 9});
  expect_values<int>(pad(tensor({1, 2, 3}), 0, {{-1, 0, 0}}), {2}, {2, 3});
}

TEST_F(Shapes, are_joined_and_split) {
  const Tensor a = tensor({{1, 2}});
  const Tensor b = tensor({{3, 4}});
  expect_values<int>(concatenate({a, b}), {2, 2}, {1, 2, 3, 4});
  expect_values<int>(concatenate({a, b}, -1), {1, 4}, {1, 2, 3, 4});
  expect_values<int>(stack({a, b}, 1), {1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(concatenate({a, ones({1, 2})}).dtype(), DType::f32);
  const auto [head, tail] = split(iota({5}), 2);
  expect_values<int>(head, {2}, {0, 1});
  expect_values<int>(tail, {3}, {2, 3, 4});
  expect_values<int>(tril(ones({2, 2}, DType::s32)), {2, 2}, {1, 0, 1, 1});
  expect_values<int>(triu(ones({2, 2}, DType::s32), 1), {2, 2}, {0, 1, 0, 0});
}

TEST_F(Shapes, that_do_not_fit_are_refused_at_the_call) {
  EXPECT_EQ(error_of([] {
              return reshape(ones({2, 3}), {4, 2});
            }).code(),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(error_of([] {
              return reshape(ones({2, 3}), {-1, 4});
            }).code(),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(error_of([] {
              return reshape(ones({2, 3}), {-1, -1});
            }).reason(),
            "-1 stands for one extent, got it twice");
  EXPECT_EQ(error_of([] {
              return squeeze(ones({2, 3}), Axes{0});
            }).code(),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(error_of([] {
              return transpose(ones({2, 3}), Axes{0, 0});
            }).code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([] { return reverse(ones({2}), Axes{1}); }).code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([] { return slice(ones({2}), {0}, {3}); }).code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([] { return tensor({{1, 2}, {3}}); }).code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error_of([] { return ones({2}).item<float>(); }).code(), ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker
