// Laws that operations obey, whatever the shapes: each checked for shapes and numbers drawn at random.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class Laws : public TensorsOnDevices {
 protected:
  /// Calls `law` for one drawing after the other; a failure names its number.
  void for_drawings(const std::function<void()>& law) {
    for (int drawing = 0; drawing < 12; ++drawing) {
      SCOPED_TRACE("drawing " + std::to_string(drawing));
      random_.seed(static_cast<unsigned>(drawing));
      law();
    }
  }
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution{low, high}(random_);
  }
  Shape shape(std::size_t least_rank = 0, std::size_t most_rank = 4) {
    std::vector<std::int64_t> extents;
    const auto rank =
        number(static_cast<std::int64_t>(least_rank), static_cast<std::int64_t>(most_rank));
    for (std::int64_t i = 0; i < rank; ++i) extents.push_back(number(1, 6));
    return Shape::make(extents);
  }
  /// Small integers as floats: sums and products of a few are exact in any order.
  Tensor exact(const Shape& of) {
    std::vector<float> values(static_cast<std::size_t>(of.elements()));
    for (float& value : values) value = static_cast<float>(number(-9, 9));
    return tensor(values, of);
  }
  /// Axes in any order.
  Axes order(std::size_t rank) {
    std::vector<std::int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    return Axes{axes.begin(), axes.end()};
  }
  static void expect_same(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.spec(), b.spec());
    EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
  }

  std::mt19937 random_;
};

TEST_P(Laws, operands_broadcast_as_if_they_had_been_repeated) {
  for_drawings([&] {
    const Shape full = shape(1);
    std::vector<std::int64_t> less;
    for (const std::int64_t extent : full) less.push_back(number(0, 1) ? extent : 1);
    less.erase(less.begin(), less.begin() + number(0, static_cast<std::int64_t>(less.size())));
    const Tensor a = exact(full);
    const Tensor b = exact(Shape::make(less));
    expect_same(a * b + b, a * broadcast(b, full) + broadcast(b, full));
    expect_same(b - a, -(a - b));
  });
}

TEST_P(Laws, permutations_and_their_inverses_cancel) {
  for_drawings([&] {
    const Tensor x = exact(shape(1));
    const Axes axes = order(x.rank());
    Axes inverse(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
      inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
    expect_same(transpose(transpose(x, axes), inverse), x);
    expect_same(transpose(transpose(x, axes) + 1, inverse), x + 1);
    const Axes some(axes.begin(), axes.begin() + number(0, static_cast<std::int64_t>(axes.size())));
    expect_same(reverse(reverse(x, some) * 2, some), x * 2);
  });
}

TEST_P(Laws, shapes_do_not_change_elements) {
  for_drawings([&] {
    const Tensor x = exact(shape(1));
    expect_same(reshape(flatten(x) + 1, x.shape()), x + 1);
    const std::int64_t axis = number(0, static_cast<std::int64_t>(x.rank()) - 1);
    expect_same(squeeze(new_axis(x, axis), Axes{axis}), x);
    expect_same(concatenate(std::vector{x, x * 2}, axis),
                concatenate(std::vector{concatenate(std::vector{x}, axis), x + x}, axis));
  });
}

TEST_P(Laws, sums_are_linear_and_their_axes_come_in_any_order) {
  for_drawings([&] {
    const Shape of = shape(1);
    const Tensor x = exact(of);
    const Tensor y = exact(of);
    const Axes axes = order(of.rank());
    const Axes some(axes.begin(), axes.begin() + number(1, static_cast<std::int64_t>(axes.size())));
    expect_same(sum(x * 3 + y, {some}), sum(x, {some}) * 3 + sum(y, {some}));
    Tensor one_by_one = x;
    for (const std::int64_t axis : some) one_by_one = sum(one_by_one, {Axes{axis}, true});
    expect_same(one_by_one, sum(x, {some, true}));
    expect_same(sum(transpose(x, axes)), sum(x));
    expect_same(reduce_max(x, {some}), -reduce_min(-x, {some}));
  });
}

TEST_P(Laws, products_of_matrices_associate_and_distribute) {
  for_drawings([&] {
    const auto k = [&] { return number(1, 7); };
    const std::int64_t a = k(), b = k(), c = k(), d = k();
    const Tensor x = exact({a, b}), y = exact({b, c}), z = exact({c, d}), w = exact({b, c});
    expect_same(matmul(matmul(x, y), z), matmul(x, matmul(y, z)));
    expect_same(matmul(x, y + w), matmul(x, y) + matmul(x, w));
    expect_same(transpose(matmul(x, y)), matmul(transpose(y), transpose(x)));
    expect_same(matmul(x, y), sum(reshape(x, {a, b, 1}) * reshape(y, {1, b, c}), {Axes{1}}));
  });
}

TEST_P(Laws, sorting_forgets_the_order_and_taking_restores_it) {
  for_drawings([&] {
    const Tensor x = exact({number(1, 40)});
    const Tensor places = argsort(x);
    expect_same(take(x, places), sort(x));
    expect_same(sort(reverse(x)), sort(x));
    expect_same(take(take(x, places), argsort(places)), x);
  });
}

TEST_P(Laws, gradients_are_linear_in_what_is_differentiated) {
  for_drawings([&] {
    const Tensor x = exact(shape(1));
    const auto f = [](const Tensor& v) { return sum(v * v * 2); };
    const auto g = [](const Tensor& v) { return sum(v * 5); };
    const auto both = [&](const Tensor& v) { return f(v) * 3 + g(v); };
    expect_same(grad(both)(x), grad(f)(x) * 3 + grad(g)(x));
    expect_same(jit(grad(both))(x), grad(both)(x));
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Laws, every_device(), device_name);

}  // namespace
}  // namespace stoker
