// vmap(f)(x) is f of each element, stacked.
#include <algorithm>

#include "stoker/tests/tensor/differences.hpp"

namespace stoker {
namespace {

using Vmap = TensorsOnDevices;

Tensor element(const Tensor& x, std::int64_t i) {
  return squeeze(slice_along_axis(x, i, 1), Axes{0});
}

void expect_same(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.spec(), want.spec());
  const auto a = got.to_vector<double>();
  const auto b = want.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double tolerance = got.dtype() == DType::f64 ? 1e-9 : 1e-5;
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << "element " << i;
  }
}

/// All arguments mapped, and each of them alone with the others' first element for all.
void check(const char* name, const Function& function, const std::vector<Tensor>& batches) {
  SCOPED_TRACE(name);
  const std::int64_t size = batches[0].shape()[0];
  for (std::size_t alone = 0; alone <= batches.size(); ++alone) {
    if (alone > 0 && batches.size() == 1) break;
    SCOPED_TRACE(alone);
    const auto is_mapped = [&](std::size_t k) { return alone == 0 || k + 1 == alone; };
    std::vector<Tensor> given;
    std::vector<Tensor> mapped;
    for (std::size_t k = 0; k < batches.size(); ++k) {
      given.push_back(is_mapped(k) ? batches[k] : element(batches[k], 0));
      if (is_mapped(k)) mapped.push_back(batches[k]);
    }
    const auto of_mapped = [&](const std::vector<Tensor>& elements) {
      std::vector<Tensor> arguments = given;
      std::size_t next = 0;
      for (std::size_t k = 0; k < given.size(); ++k)
        if (is_mapped(k)) arguments[k] = elements[next++];
      return function(arguments);
    };
    std::vector<Tensor> one_by_one;
    for (std::int64_t i = 0; i < size; ++i) {
      std::vector<Tensor> elements;
      for (const Tensor& batch : mapped) elements.push_back(element(batch, i));
      one_by_one.push_back(of_mapped(elements));
    }
    expect_same(vmap(of_mapped)(mapped), stack(one_by_one));
  }
}

TEST_P(Vmap, of_functions_of_elements) {
  for (const auto& [name, function] :
       std::vector<std::pair<const char*, Tensor (*)(const TensorLike&)>>{
           {"exp", &exp}, {"negate", &negate}, {"floor", &floor}, {"is_nan", &is_nan}})
    check(name, [&](const auto& x) { return function(x[0]); }, {sample({3, 2})});
  const Function sum_of_two = [](const auto& x) { return x[0] + x[1]; };
  check("add", sum_of_two, {sample({3, 2, 4}), sample({3, 2, 4}, 0, 1)});
  check("add of a lower rank", sum_of_two, {sample({3, 2, 4}), sample({3, 4}, 0, 1)});
  check("add of a scalar", sum_of_two, {sample({3}), sample({3, 2, 1}, 0, 1)});
  check("select", [](const auto& x) { return select(x[0] > 0, x[1], x[2]); },
        {sample({3}), sample({3, 2}), sample({3, 2, 2}, 2, 3)});
  check("cast", [](const auto& x) { return as_type(x[0] * 10, DType::s32); }, {sample({3, 2})});
  check("quotient", [](const auto& x) { return quotient(as_type(x[0] * 10, DType::s32), 3); },
        {sample({3, 2})});
}

TEST_P(Vmap, of_shapes) {
  const std::vector<Tensor> x{sample({3, 2, 4})};
  const std::vector<std::pair<const char*, Function>> cases = {
      {"reshape",
       [](const auto& v) {
         return reshape(v[0], {4, 2});
       }},
      {"transpose", [](const auto& v) { return transpose(v[0]); }},
      {"broadcast",
       [](const auto& v) {
         return broadcast(v[0], {5, 2, 4});
       }},
      {"broadcast axes",
       [](const auto& v) {
         return broadcast(v[0], {2, 5, 4}, {0, 2});
       }},
      {"reverse", [](const auto& v) { return reverse(v[0], Axes{1}); }},
      {"slice",
       [](const auto& v) {
         return slice(v[0], {0, 1}, {2, 3}, Axes{1, 2});
       }},
      {"tile",
       [](const auto& v) {
         return tile(v[0], {2, 1});
       }},
      {"tril", [](const auto& v) { return tril(v[0]); }}};
  for (const auto& [name, function] : cases) check(name, function, x);
  check("pad",
        [](const auto& v) {
          return pad(v[0], v[1], {{1, 0, 1}, {-1, 2, 0}});
        },
        {sample({3, 2, 4}), sample({3})});
  check("concatenate",
        [](const auto& v) {
          return concatenate({v[0], v[1]}, -1);
        },
        {sample({3, 2, 4}), sample({3, 2, 1})});
}

TEST_P(Vmap, of_reductions) {
  const std::vector<Tensor> x{sample({3, 2, 4})};
  const std::vector<std::pair<const char*, Function>> cases = {
      {"sum", [](const auto& v) { return sum(v[0], {Axes{0}}); }},
      {"sum of all", [](const auto& v) { return sum(v[0]); }},
      {"mean",
       [](const auto& v) {
         return mean(v[0], {Axes{-1}, true});
       }},
      {"product", [](const auto& v) { return product(v[0], {Axes{1}}); }},
      {"max", [](const auto& v) { return reduce_max(v[0]); }},
      {"min", [](const auto& v) { return reduce_min(v[0], {Axes{0}}); }},
      {"all", [](const auto& v) { return all(v[0] > 0, {Axes{1}}); }},
      {"any", [](const auto& v) { return any(v[0] > 0); }},
      {"argmax", [](const auto& v) { return argmax(v[0], {.axis = 1}); }},
      {"argmin", [](const auto& v) { return argmin(v[0], {.axis = 0, .keepdims = true}); }},
      {"variance", [](const auto& v) { return variance(v[0]); }},
      {"softmax", [](const auto& v) { return softmax(v[0], 0); }},
      {"logsumexp", [](const auto& v) { return logsumexp(v[0]); }}};
  for (const auto& [name, function] : cases) check(name, function, x);
  check("of scalars", [](const auto& v) { return sum(v[0]) + argmax(flatten(v[0])); },
        {sample({3})});
  check("layer_norm", [](const auto& v) { return layer_norm(v[0], v[1], v[2]); },
        {sample({3, 2, 4}), sample({3, 4}, 1, 2), sample({3, 4})});
}

TEST_P(Vmap, of_order_and_windows) {
  const std::vector<Tensor> x{sample({3, 4, 5})};
  const Window window{.dimensions = {2, 1}, .strides = Axes{1, 2}, .padding = PadRule::same};
  const std::vector<std::pair<const char*, Function>> cases = {
      {"sort", [](const auto& v) { return sort(v[0], 1); }},
      {"argsort", [](const auto& v) { return argsort(v[0], 0, Direction::descending); }},
      {"top_k", [](const auto& v) { return top_k(v[0], 2).values; }},
      {"cumulative_sum", [](const auto& v) { return cumulative_sum(v[0], -1, true); }},
      {"cumulative_product", [](const auto& v) { return cumulative_product(v[0], 0); }},
      {"cumulative_max", [](const auto& v) { return cumulative_max(v[0], 1); }},
      {"median", [](const auto& v) { return median(v[0], 1); }},
      {"window_sum", [&](const auto& v) { return window_sum(v[0], window); }},
      {"window_product", [&](const auto& v) { return window_product(v[0], window); }},
      {"window_max", [&](const auto& v) { return window_max(v[0], window); }},
      {"window_min", [&](const auto& v) { return window_min(v[0], window); }}};
  for (const auto& [name, function] : cases) check(name, function, x);
  check(
      "window_scatter_max",
      [](const auto& v) {
        return window_scatter_max(v[0], v[1], v[2], {.dimensions = {2, 1}, .strides = Axes{2, 1}});
      },
      {sample({3, 4, 5}), sample({3, 2, 5}, 1, 2), sample({3})});
}

TEST_P(Vmap, of_positions) {
  const Tensor rows = tensor({{2, 0}, {1, 1}, {0, 3}});
  check("take", [](const auto& v) { return take(v[0], v[1], 1); }, {sample({3, 2, 4}), rows});
  check("take of rows", [](const auto& v) { return take(v[0], v[1]); },
        {sample({3, 4, 2}), reshape(rows, {3, 2, 1})});
  check("take_along_axis", [](const auto& v) { return take_along_axis(v[0], v[1], 1); },
        {sample({3, 1, 4}), reshape(rows, {3, 1, 2})});
  check("gather", [](const auto& v) { return gather(v[0], v[1]); },
        {sample({3, 3, 4}), reshape(rows, {3, 1, 2})});
  check("gather along", [](const auto& v) { return gather(v[0], v[1], Axes{1}); },
        {sample({3, 2, 4}), reshape(rows, {3, 2, 1})});
  check("indexed_add", [](const auto& v) { return indexed_add(v[0], v[1], v[2]); },
        {sample({3, 4, 2}), reshape(rows, {3, 2, 1}), sample({3, 2, 2})});
  check(
      "indexed_put", [](const auto& v) { return indexed_put(v[0], v[1], v[2], Axes{1}); },
      {sample({3, 2, 4}), reshape(tensor({{2, 0}, {1, 2}, {0, 3}}), {3, 2, 1}), sample({3, 2, 2})});
  check("dynamic_slice",
        [](const auto& v) {
          return dynamic_slice(v[0], v[1], {1, 2});
        },
        {sample({3, 2, 4}), rows});
  check("put_slice", [](const auto& v) { return put_slice(v[0], v[1], v[2]); },
        {sample({3, 2, 4}), rows, sample({3, 1, 2}, 2, 3)});
}

TEST_P(Vmap, of_products_and_factors) {
  const Function product = [](const auto& v) { return matmul(v[0], v[1]); };
  check("matrices", product, {sample({3, 2, 4}), sample({3, 4, 2})});
  check("vectors", product, {sample({3, 4}), sample({3, 4})});
  check("batches", product, {sample({3, 5, 2, 4}), sample({3, 4, 2})});
  check("dot", [](const auto& v) { return dot(v[0], {.contract = {0}}, v[1], {.contract = {1}}); },
        {sample({3, 4, 2}), sample({3, 2, 4})});
  const Tensor square = sample({3, 3, 3}) + 4.0 * as_type(eye(3), DType::f64);
  const std::vector<std::pair<const char*, Function>> cases = {
      {"cholesky", [](const auto& v) { return linalg::cholesky(matmul(v[0], transpose(v[0]))); }},
      {"lu", [](const auto& v) { return linalg::lu(v[0]).u; }},
      {"qr", [](const auto& v) { return linalg::qr(v[0]).r; }},
      {"eigh", [](const auto& v) { return linalg::eigh(v[0] + transpose(v[0])).values; }},
      {"svd", [](const auto& v) { return linalg::svd(v[0]).s; }},
      {"determinant", [](const auto& v) { return linalg::determinant(v[0]); }},
      {"invert", [](const auto& v) { return linalg::invert(v[0]); }}};
  for (const auto& [name, function] : cases) check(name, function, {square});
  check("solve", [](const auto& v) { return linalg::solve(v[0], v[1]); }, {square, sample({3, 3})});
  check("triangular_solve", [](const auto& v) { return linalg::triangular_solve(v[0], v[1]); },
        {square, sample({3, 3, 2})});
}

TEST_P(Vmap, of_random_numbers) {
  const Tensor keys = random::split(random::key(3), 3);
  check("normal", [](const auto& v) { return random::normal(v[0], {4}).values; }, {keys});
  check("fold_in", [](const auto& v) { return random::fold_in(v[0], 7); }, {keys});
}

TEST_P(Vmap, of_branches_and_loops) {
  check("cond",
        [](const auto& v) {
          return cond(
              sum(v[1]) > 0, [&] { return sqrt(abs(v[0])); }, [&] { return v[0] * 2; });
        },
        {sample({3, 2}), sample({3, 2}, -1, 1, 1)});
  check("for_loop",
        [](const auto& v) {
          return for_loop(3, v[0], [&](const Tensor& i, const Tensor& state) {
            return state * v[1] + as_type(i, DType::f64);
          });
        },
        {sample({3, 2}), sample({3, 2}, 1, 2)});
  check("scan",
        [](const auto& v) {
          const auto [last, all] = scan(
              [](const Tensor& state, const Tensor& x) {
                return std::pair{state + x, state * x};
              },
              v[0], v[1]);
          return all + last;
        },
        {sample({3, 2}), sample({3, 4, 2}, 1, 2)});
  check("while_loop",
        [](const auto& v) {
          return while_loop(
              v[0], [&](const Tensor& x) { return all(x < v[1]); },
              [](const Tensor& x) { return x * 2; });
        },
        {sample({3, 2}, 1, 5), sample({3}, 8, 30)});
}

TEST_P(Vmap, of_loops_has_gradients) {
  const Tensor x = sample({3, 2});
  const auto one = [](const Tensor& v) {
    return sum(for_loop(3, v, [](const Tensor&, const Tensor& s) { return sin(s) * s; }));
  };
  const Tensor all = vmap(grad(one))(x);
  for (std::int64_t i = 0; i < 3; ++i) expect_same(element(all, i), grad(one)(element(x, i)));
  expect_same(grad([&](const Tensor& v) { return sum(vmap(one)(v)); })(x), all);
}

TEST_P(Vmap, takes_axes_for_each_argument) {
  const Tensor a = sample({2, 3});
  const Tensor b = sample({2});
  const auto scaled = [](const Tensor& x, const Tensor& y) { return x * y; };
  const Tensor y = vmap(scaled, {.in_axes = {1, std::nullopt}, .out_axis = -1})(a, b);
  expect_same(y, a * reshape(b, {2, 1}));
  const Tensor z = vmap(scaled, {.in_axes = {-1, std::nullopt}})(a, b);
  expect_same(z, transpose(a * reshape(b, {2, 1})));
  const Tensor same = vmap([](const Tensor&) { return tensor<double>({1.0, 2.0}); })(a);
  expect_same(same, tensor<double>({{1.0, 2.0}, {1.0, 2.0}}));
}

TEST_P(Vmap, nests) {
  const Tensor a = sample({2, 3});
  const Tensor b = sample({4, 3}, 0, 1);
  const auto distance = [](const Tensor& x, const Tensor& y) { return sum(abs(x - y)); };
  const auto to_all = [&](const Tensor& x) {
    return vmap(distance, {.in_axes = {std::nullopt, 0}})(x, b);
  };
  const Tensor all = vmap(to_all)(a);
  expect_same(all, sum(abs(reshape(a, {2, 1, 3}) - b), {Axes{-1}}));
}

TEST_P(Vmap, of_gradients_gives_one_for_each_element) {
  using Model = std::map<std::string, Tensor>;
  const auto loss = [](const Model& model, const Tensor& x, const Tensor& y) {
    return pow(sum(tanh(matmul(x, model.at("w"))) * model.at("v")) - y, 2);
  };
  const Model model{{"w", sample({3, 4})}, {"v", sample({4}, 0, 1)}};
  const Tensor x = sample({5, 3}, -2, 2);
  const Tensor y = sample({5});
  const Model all = vmap(grad(loss), {.in_axes = {std::nullopt, 0, 0}})(model, x, y);
  for (std::int64_t i = 0; i < 5; ++i) {
    const Model one = grad(loss)(model, element(x, i), element(y, i));
    for (const auto& [name, gradient] : one) expect_same(element(all.at(name), i), gradient);
  }
}

TEST_P(Vmap, has_gradients) {
  const Tensor x = sample({4, 3});
  const Tensor w = sample({3, 2});
  const auto row = [&](const Tensor& v) { return sum(softmax(matmul(v, w)) * tensor({1.0, 2.0})); };
  const auto by_rows = grad([&](const Tensor& v) { return sum(pow(vmap(row)(v), 2)); });
  const auto at_once = grad([&](const Tensor& v) {
    return sum(pow(sum(softmax(matmul(v, w)) * tensor({1.0, 2.0}), {Axes{1}}), 2));
  });
  expect_same(by_rows(x), at_once(x));
  // By what the function captures.
  const auto by_captured = grad([&](const Tensor& v) {
    return sum(vmap([&](const Tensor& one) { return matmul(one, v); })(x));
  });
  expect_same(by_captured(w), broadcast(reshape(sum(x, {Axes{0}}), {3, 1}), {3, 2}));
}

TEST_P(Vmap, works_in_traced_functions_and_around_them) {
  const Tensor x = sample({4, 3});
  const auto f = [](const Tensor& v) { return v / sum(v * v); };
  expect_same(jit(vmap(f))(x), vmap(f)(x));
  expect_same(vmap(jit(f))(x), vmap(f)(x));
}

TEST_P(Vmap, of_no_elements_gives_none) {
  const auto f = [](const Tensor& v) {
    return sum(v) + random::uniform(random::key(1), {2}).values;
  };
  EXPECT_EQ(vmap(f)(zeros({0, 3})).shape(), (Shape{0, 2}));
  const auto keyed = [](const Tensor& key) { return random::uniform(key, {2}).values; };
  EXPECT_EQ(vmap(keyed)(zeros({0, 2}, DType::u32)).shape(), (Shape{0, 2}));
}

TEST_P(Vmap, refuses_what_does_not_fit) {
  const auto f = [](const Tensor& a, const Tensor& b) { return a + b; };
  const auto code = [&](VmapAxes axes, const Tensor& a, const Tensor& b) {
    return error_of([&] { return vmap(f, axes)(a, b); }).code();
  };
  EXPECT_EQ(code({}, ones({2}), ones({3})), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({.in_axes = {0}}, ones({2}), ones({2})), ErrorCode::arity_mismatch);
  EXPECT_EQ(code({.in_axes = {1, 0}}, ones({2}), ones({2})), ErrorCode::invalid_parameter);
  EXPECT_EQ(code({.in_axes = {std::nullopt, std::nullopt}}, ones({2}), ones({2})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code({.out_axis = 1}, ones({2}), ones({2})), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([] {
              return vmap([](const Tensor& x) { return x * x.item<float>(); })(ones({2}));
            }).code(),
            ErrorCode::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Devices, Vmap, every_device(), device_name);

}  // namespace
}  // namespace stoker
