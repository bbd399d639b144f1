// Functions that are traced once, and what lazy values do.
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/tensor/fusion/clusters.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/pipeline/tensor/passes/passes.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class Traced : public Tensors {
 protected:
  [[nodiscard]] expr::ProgramCache::Counters programs() const {
    return current_device().client()->services().get<expr::ProgramCache>()->counters();
  }
};

TEST_F(Traced, functions_are_called_once_for_operands_of_a_kind) {
  int calls = 0;
  const auto step = jit([&](const Tensor& x, const Tensor& y) {
    ++calls;
    return x * 2 + y;
  });
  expect_near(step(tensor({1.0, 2.0}), tensor(1.0)), {3, 5});
  expect_near(step(tensor({3.0, 4.0}), tensor(2.0)), {8, 10});
  EXPECT_EQ(calls, 1);
  expect_near(step(tensor({1.0, 2.0, 3.0}), tensor(1.0)), {3, 5, 7});
  expect_near(step(tensor({1, 2}), tensor(1)), {3, 5});
  EXPECT_EQ(calls, 3) << "another shape, another dtype";
}

TEST_F(Traced, functions_take_and_give_structures) {
  const auto both = jit([](const std::vector<Tensor>& x) {
    return std::map<std::string, Tensor>{{"sum", x[0] + x[1]}, {"first", x[0]}};
  });
  const auto result = both(std::vector{tensor({1.0}), tensor({2.0})});
  expect_near(result.at("sum"), {3});
  expect_near(result.at("first"), {1});
}

TEST_F(Traced, functions_keep_what_they_capture) {
  const Tensor weight = tensor({10.0, 20.0});
  const auto f = jit([&](const Tensor& x) { return x * weight; });
  expect_near(f(tensor({1.0, 1.0})), {10, 20});
  expect_near(f(tensor({2.0, 2.0})), {20, 40});
}

TEST_F(Traced, functions_cannot_look_at_values) {
  const auto f = jit([](const Tensor& x) { return x.item<float>() > 0 ? x : -x; });
  EXPECT_EQ(error_of([&] { return f(tensor({1.0})); }).code(), ErrorCode::invalid_argument);
}

TEST_F(Traced, functions_nest_with_gradients_either_way) {
  const auto square = jit([](const Tensor& x) { return sum(x * x); });
  expect_near(grad(square)(tensor({1.0, 2.0})), {2, 4});
  const auto gradient = jit(grad([](const Tensor& x) { return sum(x * x * x); }));
  expect_near(gradient(tensor({1.0, 2.0})), {3, 12});
  const auto outer = jit([&](const Tensor& x) { return square(x) + 1; });
  expect_near(outer(tensor({1.0, 2.0})), {6});
}

TEST_F(Traced, functions_tell_names_of_axes_apart_however_they_are_written) {
  const auto f = jit([](const Tensor& x) { return x + 1; });
  const Tensor x = ones({2, 3});
  EXPECT_EQ(f(x.named({"a|b", "c"})).names()[0], "a|b");
  EXPECT_EQ(f(x.named({"a", "b|c"})).names()[0], "a");
  EXPECT_EQ(f(x.named({"", "1,a"})).names()[0], "");
  EXPECT_EQ(f.programs(), 3U);
}

TEST_F(Traced, functions_tell_keys_of_maps_apart_however_close_they_are) {
  const auto f = jit([](const std::map<double, Tensor>& map) { return map; });
  for (const double key : {1e-7, 2e-7, 0.1, std::nextafter(0.1, 1.0), 1e300})
    EXPECT_EQ(f(std::map<double, Tensor>{{key, ones({1})}}).begin()->first, key);
}

TEST_F(Traced, functions_keep_the_programs_that_were_used_last) {
  int calls = 0;
  const auto f = jit([&](const Tensor& x) {
    ++calls;
    return x + 1;
  });
  const auto call = [&](std::int64_t n) { EXPECT_EQ(f(zeros({n})).shape(), (Shape{n})); };
  constexpr auto most = static_cast<std::int64_t>(detail::TracedPrograms::most);
  for (std::int64_t n = 1; n <= most; ++n) call(n);
  EXPECT_EQ(f.programs(), detail::TracedPrograms::most);
  call(1);
  call(most + 1);  // in the place of 2
  EXPECT_EQ(f.programs(), detail::TracedPrograms::most);
  EXPECT_EQ(calls, most + 1);
  call(1);
  EXPECT_EQ(calls, most + 1);
  call(2);
  EXPECT_EQ(calls, most + 2);
  EXPECT_EQ(f.trim(), detail::TracedPrograms::most);
  EXPECT_EQ(f.programs(), 0U);
  call(1);
}

TEST_F(Traced, loops_find_their_program_again) {
  Tensor x = tensor({1.0, 2.0});
  (x = x * 0.5 + 1).eval();
  const auto before = programs();
  for (int i = 0; i < 10; ++i) (x = x * 0.5 + 1).eval();
  const auto after = programs();
  EXPECT_EQ(after.misses, before.misses);
  EXPECT_EQ(after.hits, before.hits + 10);
}

TEST_F(Traced, values_that_are_known_are_not_computed_again) {
  const Tensor x = exp(ones({3}));
  x.eval();
  EXPECT_TRUE(x.evaluated());
  const std::vector<Tensor> after{x + 1};
  EXPECT_EQ(graph_text(after).find("exp"), std::string::npos) << graph_text(after);
  EXPECT_NE(graph_dot(after).find("digraph"), std::string::npos);
}

TEST_F(Traced, several_are_computed_together) {
  const Tensor x = exp(tensor({0.0, 1.0}));
  const Tensor a = x + 1;
  const Tensor b = x * 2;
  const auto before = programs();
  eval({a, b});
  EXPECT_EQ(programs().misses, before.misses + 1);
  expect_near(a, {2, std::exp(1.0) + 1});
  expect_near(b, {2, 2 * std::exp(1.0)});
}

TEST_F(Traced, long_histories_neither_overflow_the_stack_nor_stay) {
  Tensor x = tensor(0.0);
  for (int i = 0; i < 20'000; ++i) x = x + 1;
  x = Tensor{};  // never computed
  Tensor y = tensor(0.0);
  for (int i = 0; i < 2'000; ++i) (y = y + 1).eval();
  EXPECT_EQ(y.item<float>(), 2000);
  EXPECT_TRUE(y.value().node()->inputs().empty());
}

TEST_F(Traced, operands_live_on_one_device) {
  const System other;
  const Tensor here = tensor({1.0});
  const Tensor there = [&] {
    const DeviceScope elsewhere{other.device("cpu")};
    return tensor({2.0});
  }();
  EXPECT_EQ(error_of([&] { return (here + there).to_vector<float>(); }).code(),
            ErrorCode::wrong_device);
  expect_near(here + there.to(current_device()), {3});
}

TEST_F(Traced, values_cross_threads_and_may_be_dropped_at_any_time) {
  const Tensor shared = exp(iota({1000}, DType::f32) / 1000);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, device = current_device()] {
      const DeviceScope mine{device};
      for (int i = 0; i < 50; ++i) {
        const Tensor y = shared * i;
        y.eval();
        if (i % 7 == 0) {
          EXPECT_EQ(y.to_vector<float>()[0], static_cast<float>(i));
        }
      }
    });
}

// --- passes --------------------------------------------------------------------------------------

expr::Program optimized(const Tensor& tensor) {
  expr::Program program = expr::extract(std::vector{tensor.value()}).program();
  expr::optimize(program);
  return program;
}

std::size_t count_of(const expr::Program& program, std::string_view op) {
  std::size_t count = 0;
  for (const expr::Instruction& one : program.code) count += one.op->name == op ? 1 : 0;
  return count;
}

TEST_F(Traced, relu_is_one_function_and_keeps_its_zeros_and_nans) {
  const Tensor x = tensor({-1.0, 2.0, std::numeric_limits<double>::quiet_NaN(), -0.0, 0.0});
  const expr::Program program = optimized(relu(x));
  EXPECT_EQ(count_of(program, "max"), 1U);
  EXPECT_EQ(count_of(program, "select") + count_of(program, "is_nan"), 0U);
  const std::vector<float> y = relu(x).to_vector<float>();
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 2);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_FALSE(std::signbit(y[3]));
  // Others that look alike stay.
  EXPECT_EQ(count_of(optimized(select(x > 0, x, select(is_nan(x), x, 1))), "select"), 2U);
  EXPECT_EQ(count_of(optimized(select(x > 1, x, select(is_nan(x), x, 0))), "select"), 2U);
  EXPECT_EQ(count_of(optimized(select(x > 0, -x, select(is_nan(x), -x, 0))), "select"), 2U);
}

TEST_F(Traced, programs_lose_what_changes_nothing) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(optimized(transpose(transpose(x + 0) * 1)).code.size(), 1U);
  const Tensor y = tensor({1.0});
  EXPECT_EQ(count_of(optimized(y + 0.0), "add"), 1U) << "-0 + 0 is 0";
  EXPECT_EQ(count_of(optimized(matmul(transpose(x), x)), "transpose"), 0U);
}

TEST_F(Traced, squares_are_products) {
  const Tensor x = tensor({1.5, -2.0});
  EXPECT_EQ(count_of(optimized(pow(x, 2.0)), "multiply"), 1U);
  EXPECT_EQ(count_of(optimized(pow(x, 2.0)), "pow"), 0U);
  EXPECT_EQ(optimized(pow(x, 1.0)).code.size(), 1U);
  EXPECT_EQ(count_of(optimized(pow(x, 3.0)), "pow"), 1U);
  expect_near(pow(x, 2.0), {2.25, 4}, 0);
  const Tensor spread =
      pow(tensor({2.0}), tensor({{2.0}, {2.0}}));  // another shape than its base's
  expect_near(spread, {4, 4});
}

TEST_F(Traced, programs_compute_equal_things_once) {
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_EQ(count_of(optimized(exp(x) + exp(x) * exp(x)), "exp"), 1U);
}

TEST_F(Traced, programs_compute_constants_when_they_are_compiled) {
  const Tensor x = tensor({1.0, 2.0});
  const Tensor c = full({}, 2.0) * 3.0 + 1.0;
  const expr::Program program = optimized(x * exp(c));
  EXPECT_EQ(count_of(program, "exp"), 0U) << program.to_text();
  expect_near(x * exp(c), {std::exp(7.0), 2 * std::exp(7.0)});
}

TEST_F(Traced, chains_of_elements_are_one_kernel) {
  const Tensor x = ones({8, 16});
  const Tensor y = ones({16, 8});
  const Tensor z = exp(x.eval() * 2 + transpose(y.eval())) - 1;
  EXPECT_EQ(expr::find_clusters(optimized(z)).all.size(), 1U);
}

TEST_F(Traced, fused_programs_equal_their_operations_one_by_one) {
  std::mt19937 random{7};
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n - 1}(random);
  };
  for (int round = 0; round < 60; ++round) {
    const Shape shape = std::array{Shape{4, 5}, Shape{20}, Shape{2, 2, 5}}[pick(3)];
    const auto input = [&](double seed) {
      return as_type(sin(iota(shape, DType::f32) * 1.7 + seed), DType::f32).eval();
    };
    std::vector<Tensor> lazy{input(0), input(1)};
    std::vector<Tensor> eager = lazy;
    for (int step = 0; step < 12; ++step) {
      const std::size_t a = pick(lazy.size());
      const std::size_t b = pick(lazy.size());
      const std::size_t what = pick(13);
      const auto apply = [&](const std::vector<Tensor>& x) -> Tensor {
        switch (what) {
          case 0: return x[a] + x[b];
          case 1: return x[a] * x[b];
          case 2: return tanh(x[a]);
          case 3: return select(x[a] > x[b], x[a], x[b] - 1);
          case 4: return reverse(x[a]);
          case 5: return x[a] - mean(x[b]);
          case 6: return reshape(transpose(x[a]), shape);
          case 7: return exp(-abs(x[a])) / 2;
          case 8: return x[b] - sum(x[a] * x[b], {Axes{-1}, true}) / 8;
          case 9: return x[b] + reduce_max(abs(x[a] - x[b]));
          case 10: return x[a] * mean((x[a] - x[b]) * x[b], {Axes{0}, true});
          case 11:
            return reduce_min(reshape(reverse(x[a]), {5, 4}), {Axes{0}, true})[{0, 3}] - x[b];
          default: return max(x[a], sum(x[b], {Axes{0}, true}));
        }
      };
      lazy.push_back(apply(lazy));
      eager.push_back(apply(eager));
      eager.back().eval();
    }
    EXPECT_EQ(lazy.back().to_vector<float>(), eager.back().to_vector<float>())
        << "round " << round << "\n"
        << graph_text(std::vector{lazy.back()});
  }
}

// --- printing ------------------------------------------------------------------------------------

TEST_F(Traced, tensors_are_printed_as_people_know_them) {
  EXPECT_EQ(to_string(tensor(3)), "s32[] 3");
  EXPECT_EQ(to_string(tensor({1, -10})), "s32[2] [  1, -10]");
  EXPECT_EQ(to_string(tensor({{1.5, 2.0}, {-3.25, double{NAN}}})),
            "f32[2,2]\n[[  1.5,     2],\n [-3.25,   nan]]");
  EXPECT_EQ(to_string(iota({20})), "s32[20] [ 0,  1,  2, ..., 17, 18, 19]");
  EXPECT_EQ(to_string(zeros({0, 2})), "f32[0,2] []");
}

TEST_F(Traced, structures_of_other_keys_or_lengths_are_other_programs) {
  using Named = std::map<std::string, Tensor>;
  int calls = 0;
  const auto f = jit([&](const Named& x) {
    ++calls;
    Named y;
    for (const auto& [name, one] : x) y[name + "!"] = one * 2;
    return y;
  });
  EXPECT_EQ(f(Named{{"a", tensor({1.0})}}).begin()->first, "a!");
  EXPECT_EQ(f(Named{{"b", tensor({1.0})}}).begin()->first, "b!") << "of the same shape";
  EXPECT_EQ(f(Named{{"b", tensor({3.0})}}).at("b!").item<float>(), 6);
  EXPECT_EQ(calls, 2);
  using Lists = std::pair<std::vector<Tensor>, std::vector<Tensor>>;
  const auto g = jit([](const Lists& x) { return x.first; });
  const Tensor one = tensor({1.0});
  EXPECT_EQ(g(Lists{{one, one}, {one}}).size(), 2U);
  EXPECT_EQ(g(Lists{{one}, {one, one}}).size(), 1U);
}

TEST_F(Traced, functions_can_be_compiled_before_there_are_operands) {
  int calls = 0;
  const auto f = jit([&](const Tensor& x, const std::vector<Tensor>& more) {
    ++calls;
    return std::pair{x + more.at(0), more.at(0) * 2};
  });
  const Tensor like = zeros({3});
  const auto ready = f.compile(current_device(), like, std::vector<Tensor>{zeros({3})});
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(like.evaluated()) << "of what it is like nobody needs the values";
  const auto [total, twice] = ready(tensor({1.0, 2.0, 3.0}), {tensor({4.0, 5.0, 6.0})});
  expect_values<float>(total, {3}, {5, 7, 9});
  expect_values<float>(twice, {3}, {8, 10, 12});
  (void)f(tensor({1.0, 2.0, 3.0}), std::vector<Tensor>{tensor({4.0, 5.0, 6.0})});
  EXPECT_EQ(calls, 1) << "the function finds the program, too";

  const auto refused = [&](const auto& call) {
    try {
      (void)call();
    } catch (const Error& error) {
      return std::pair{error.code(), std::string{error.reason()}};
    }
    return std::pair{ErrorCode::internal, std::string{"nothing was refused"}};
  };
  const auto shape = refused([&] { return ready(ones({4}), {ones({3})}); });
  EXPECT_EQ(shape.first, ErrorCode::shape_mismatch);
  EXPECT_EQ(shape.second, "operand 0: the function was compiled for f32[3], got f32[4]");
  EXPECT_EQ(refused([&] { return ready(ones({3}), {ones({3}, DType::s32)}); }).first,
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(refused([&] {
              return ready(ones({3}), {ones({3}), ones({3})});
            }).first,
            ErrorCode::shape_mismatch);
  EXPECT_EQ(
      refused([&] {
        return grad([&](const Tensor& x) { return sum(ready(x, {ones({3})}).first); })(ones({3}));
      }).first,
      ErrorCode::invalid_argument);
}

TEST_F(Traced, functions_may_refuse_to_become_a_part_of_another) {
  const auto alone = jit([](const Tensor& x) { return x * 2; }, {.on_conflict = OnConflict::raise});
  EXPECT_EQ(alone(tensor(3.0)).item<float>(), 6);
  try {
    (void)jit([&](const Tensor& x) { return alone(x) + 1; })(tensor(3.0));
    FAIL() << "it was traced";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

TEST_F(Traced, hooks_with_a_name_can_be_replaced_for_one_function) {
  // A hook is called some time: each is waited for.
  Promise<int> own;
  Promise<int> other;
  Promise<int> plain;
  const auto into = [](Promise<int>& promise) {
    return [&promise](const Tensor& x) { promise.set(x.item<int>()); };
  };
  const auto f = [&](const Tensor& x) { return hook("plain", hook("twice", x, into(own)) * 2); };
  EXPECT_EQ(jit(f)(tensor(4)).item<int>(), 8);
  EXPECT_EQ(own.future().get(), 4);
  const auto replaced = jit(f, {.hooks = {{"twice", into(other)}, {"plain", into(plain)}}});
  EXPECT_EQ(replaced(tensor(5)).item<int>(), 10);
  EXPECT_EQ(other.future().get(), 5);
  EXPECT_EQ(plain.future().get(), 10);
  const auto silent = jit(f, {.hooks = {{"twice", {}}}});
  EXPECT_EQ(silent.text(tensor(4)).find("hook"), std::string::npos) << silent.text(tensor(4));
  EXPECT_NE(jit(f).text(tensor(4)).find("hook"), std::string::npos);
}

TEST_F(Traced, keys_of_maps_count_one_by_one) {
  using Named = std::map<std::string, Tensor>;
  const auto same = jit([](const Named& named) { return named; });
  for (const Named& named :
       {Named{{"a", ones({1})}, {"b c", ones({1})}}, Named{{"a b", ones({1})}, {"c", ones({1})}}}) {
    const Named result = same(named);
    EXPECT_EQ(result.begin()->first, named.begin()->first);
    EXPECT_EQ(result.rbegin()->first, named.rbegin()->first);
  }
}

TEST_F(Traced, texts_show_numbers_and_the_bodies_of_loops) {
  const Tensor x = ones({2});
  const auto loop = jit([](const Tensor& from) {
    return while_loop(
        from, [](const Tensor& s) { return all(s < 100); },
        [](const Tensor& s) { return s * 2.5; });
  });
  const std::string text = loop.text(x);
  EXPECT_NE(text.find("constant f32[] 2.5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  function 1:\n"), std::string::npos) << text;
  EXPECT_NE(graph_dot(std::vector{x * 0.25}).find("label=\"0.25\\nf32[]\""), std::string::npos)
      << graph_dot(std::vector{x * 0.25});
}

}  // namespace
}  // namespace stoker
