// Gradients of the gradients of windows: a scatter to the extremes is linear in what it scatters.
#include "stoker/tests/tensor/differences.hpp"

namespace stoker {
namespace {

using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Reduction = Tensor (*)(const Tensor&, const Window&);

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Apart, overlapping, padded and with gaps; each holds an element.
std::vector<Window> windows() {
  return {{.dimensions = {2, 2}, .strides = Axes{2, 2}},
          {.dimensions = {3, 2}},
          {.dimensions = {3, 3}, .strides = Axes{2, 1}, .padding = PadRule::same},
          {.dimensions = {2, 3}, .strides = Axes{1, 3}, .padding = Edges{{1, 0}, {2, 1}}},
          {.dimensions = {2, 1}, .strides = Axes{3, 2}}};
}

class WindowGradients : public TensorsOnDevices {};

TEST_P(WindowGradients, have_gradients) {
  const Tensor x = sample({5, 6});
  std::vector<Window> all = windows();
  all.push_back({.dimensions = {2, 2}, .padding = Edges{{1, 0}, {0, 1}}, .dilations = Axes{2, 3}});
  for (const Reduction reduction : {&window_max, &window_min})
    for (const Window& window : all) {
      // The slope depends on the extreme, so a second gradient is not zero.
      const auto loss = [&](const Tensor& v) { return weighed(exp(reduction(v, window))); };
      expect_gradient([&](const auto& v) { return grad(loss)(v[0]); }, {x});
    }
}

TEST_P(WindowGradients, carry_tangents_forward) {
  const Tensor x = sample({5, 6});
  const Tensor tangent = sample({5, 6}, -1, 1, 2);
  const double h = 1e-6;
  for (const Reduction reduction : {&window_max, &window_min})
    for (const Window& window : windows()) {
      const auto f = [&](const Tensor& v) { return reduction(v, window); };
      const Tensor moved = jvp(f, x, tangent).second;
      const Tensor want = (f(x + h * tangent) - f(x - h * tangent)) / (2 * h);
      EXPECT_EQ(moved.shape(), want.shape());
      expect_near(moved, want.to_vector<double>(), 1e-6);
    }
}

TEST_P(WindowGradients, of_scatters_go_to_source_and_start) {
  const Tensor x = sample({5, 6});
  for (const auto scatter : {&window_scatter_max, &window_scatter_min})
    for (const Window& window : windows()) {
      const Shape sources = window_max(x, window).shape();
      expect_gradient([&](const auto& v) { return scatter(v[0], v[1], v[2], window); },
                      {x, sample(sources, 1, 2), sample({}, 1, 2)});
    }
}

TEST_P(WindowGradients, of_scatters_come_from_the_first_extreme) {
  const auto slope = [](const Tensor& x, const Window& window, const Tensor& weights) {
    const auto loss = [&](const Tensor& source) {
      return sum(window_scatter_max(x, source, 0, window) * weights);
    };
    const Shape windows = window_max(x, window).shape();
    return grad(loss)(zeros(windows, DType::f32)).to_vector<float>();
  };
  const Tensor weights = tensor({1.0, 10.0, 100.0, 1000.0});
  const Window pairs{.dimensions = {2}};
  EXPECT_EQ(slope(tensor({5.0, 5.0, 1.0, 5.0}), pairs, weights), (std::vector{1.F, 10.F, 1000.F}));
  EXPECT_EQ(slope(tensor({nan, 5.0, nan, nan}), pairs, weights), (std::vector{1.F, 100.F, 100.F}));
  // Padding is never chosen, not even where nothing is larger, or where there is nothing else.
  const Window padded{.dimensions = {2}, .padding = Edges{{2, 0}}};
  EXPECT_EQ(slope(full({4}, -infinity, DType::f32), padded, weights),
            (std::vector{0.F, 1.F, 1.F, 10.F, 100.F}));
}

TEST_P(WindowGradients, of_windows_with_holes_pass_padding_by) {
  const Window window{.dimensions = {2}, .padding = Edges{{2, 0}}, .dilations = Axes{2}};
  const auto loss = [&](const Tensor& v) {
    return sum(window_max(v, window) * tensor({1.0, 10.0, 100.0}));
  };
  const Tensor lowest = full({3}, -infinity, DType::f32);
  EXPECT_EQ(grad(loss)(lowest).to_vector<float>(), (std::vector{101.F, 10.F, 0.F}));
}

TEST_P(WindowGradients, of_no_windows_are_zeros) {
  const Tensor x = sample({0, 3});
  const auto loss = [](const Tensor& source, const Tensor& at) {
    return sum(window_scatter_max(at, source, 0, {.dimensions = {1, 1}}));
  };
  EXPECT_EQ(grad(loss)(zeros({0, 3}, DType::f64), x).shape(), (Shape{0, 3}));
}

TEST_P(WindowGradients, of_every_element_by_vmap) {
  const auto third = [](const Tensor& v) {
    const auto loss = [](const Tensor& w) {
      return weighed(exp(window_max(w, {.dimensions = {2}, .padding = Edges{{1, 0}}})));
    };
    const auto second = [&](const Tensor& w) { return weighed(grad(loss)(w)); };
    return grad([&](const Tensor& w) { return weighed(grad(second)(w)); })(v);
  };
  const Tensor rows = sample({3, 4});
  const Tensor all = vmap(third)(rows);
  for (std::int64_t row = 0; row < 3; ++row)
    expect_near(all[row], third(rows[row]).to_vector<double>(), 1e-9);
  expect_gradient(
      [](const auto& v) {
        const auto loss = [](const Tensor& w) {
          return weighed(exp(window_max(w, {.dimensions = {2}, .padding = Edges{{1, 0}}})));
        };
        return grad([&](const Tensor& w) { return weighed(grad(loss)(w)); })(v[0]);
      },
      {rows[1]});
}

INSTANTIATE_TEST_SUITE_P(Devices, WindowGradients, every_device(), device_name);

}  // namespace
}  // namespace stoker
