// Branches, loops and calls of the program's functions inside of lazy programs.
#include <algorithm>
#include <atomic>

#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using ControlFlow = TensorsOnDevices;

/// `x` itself, counted when somebody computes it.
Tensor counted(const Tensor& x, std::atomic<int>& count) {
  return host_call(x.spec(),
                   [&count](const std::vector<Tensor>& in) {
                     ++count;
                     return in[0];
                   },
                   {x});
}

// Branches ----------------------------------------------------------------------------------------

TEST_P(ControlFlow, a_branch_follows_its_condition) {
  const auto f = [](const Tensor& x) {
    return cond(
        any(x > 10), [&] { return sqrt(x); }, [&] { return x * 2; });
  };
  expect_near(f(tensor({1.0, 4.0})), {2, 8});
  expect_near(f(tensor({1.0, 16.0})), {1, 4});
  const auto traced = jit(f);
  expect_near(traced(tensor({1.0, 4.0})), {2, 8});
  expect_near(traced(tensor({1.0, 16.0})), {1, 4});
}

TEST_P(ControlFlow, only_the_branch_that_is_taken_is_computed) {
  std::atomic<int> yes = 0;
  std::atomic<int> no = 0;
  const Tensor x = tensor({1.0, 2.0});
  const Tensor y = cond(
      sum(x) > 0, [&] { return counted(x + 1, yes); }, [&] { return counted(x - 1, no); });
  expect_near(y * 2, {4, 6});
  EXPECT_EQ(yes, 1);
  EXPECT_EQ(no, 0);
}

TEST_P(ControlFlow, branches_give_structures_and_merge_their_dtypes) {
  const Tensor x = tensor({1, 2});
  const auto [a, b] = cond(
      sum(x) == 3,
      [&] {
        return std::pair{x, x * 0.5};
      },
      [&] {
        return std::pair{x / 2, x};
      });
  EXPECT_EQ(a.dtype(), DType::f32);
  expect_near(a, {1, 2});
  expect_near(b, {0.5, 1});
}

TEST_P(ControlFlow, the_gradient_is_that_of_the_branch_that_was_taken) {
  const auto f = [](const Tensor& x) {
    return 3 * cond(
                   sum(x) > 0, [&] { return sum(x * x); }, [&] { return sum(x * 5); });
  };
  expect_near(grad(f)(tensor({1.0, 2.0})), {6, 12});
  expect_near(grad(f)(tensor({-1.0, -2.0})), {15, 15});
  const auto traced = jit(grad(f));
  expect_near(traced(tensor({1.0, 2.0})), {6, 12});
  expect_near(traced(tensor({-1.0, -2.0})), {15, 15});
  const auto second = grad([&](const Tensor& x) { return sum(grad(f)(x) * x); });
  expect_near(second(tensor({1.0, 2.0})), {12, 24});
}

TEST_P(ControlFlow, branches_nest_and_use_each_others_results) {
  const auto f = jit([](const Tensor& x) {
    const Tensor y = cond(
        x > 0,
        [&] {
          return cond(
              x > 10, [&] { return x * 100; }, [&] { return x * 10; });
        },
        [&] { return -x; });
    return cond(
        y > 50, [&] { return y; }, [&] { return y + 0.5; });
  });
  expect_near(f(tensor(20.0)), {2000});
  expect_near(f(tensor(3.0)), {30.5});
  expect_near(f(tensor(-60.0)), {60});
}

TEST_P(ControlFlow, branches_that_differ_are_refused) {
  const Tensor x = tensor({1.0, 2.0});
  const Error shapes = error_of([&] {
    return cond(
        tensor(1), [&] { return x; }, [&] { return sum(x); });
  });
  EXPECT_EQ(shapes.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(shapes.op(), "cond");
  const Error condition = error_of([&] {
    return cond(
        x, [&] { return x; }, [&] { return x; });
  });
  EXPECT_EQ(condition.code(), ErrorCode::shape_mismatch);
}

// Loops that a condition ends -----------------------------------------------------------------------

TEST_P(ControlFlow, a_loop_runs_while_its_condition_holds) {
  const auto below = [](const Tensor& v) { return all(v < 100); };
  const auto twice = [](const Tensor& v) { return v * 2; };
  const auto f = [&](const Tensor& x) { return while_loop(x, below, twice) + 1; };
  expect_near(f(tensor({1.0, 3.0})), {65, 193});
  expect_near(f(tensor({200.0})), {201});
  const auto traced = jit(f);
  expect_near(traced(tensor({1.0, 3.0})), {65, 193});
  expect_near(traced(tensor({2.0, 7.0})), {33, 113});
}

TEST_P(ControlFlow, a_loop_carries_structures_and_captures) {
  // Newton's iteration for the square root, until it does not move any more.
  const auto root = jit([](const Tensor& a) {
    using State = std::pair<Tensor, Tensor>;
    const State start{a, a * 0 + 1e9};
    return while_loop(
               start, [](const State& s) { return abs(s.first - s.second) > 1e-6 * s.first; },
               [&](const State& s) {
                 return State{(s.first + a / s.first) * 0.5, s.first};
               })
        .first;
  });
  expect_near(root(tensor(2.0)), {std::sqrt(2.0)}, 1e-5);
  expect_near(root(tensor(1e4)), {100}, 1e-5);
}

TEST_P(ControlFlow, a_loop_ends_after_the_most_rounds_that_it_may_take) {
  const auto f = [](const Tensor& x) {
    return while_loop(
        x, [](const Tensor& v) { return v > 0; }, [](const Tensor& v) { return v * 1.5; },
        {.max_iterations = 4});
  };
  expect_near(f(tensor(1.0)), {std::pow(1.5, 4)});
  expect_near(f(tensor(-1.0)), {-1});
}

TEST_P(ControlFlow, a_loop_of_known_length_has_a_gradient) {
  const auto f = [](const std::vector<Tensor>& x) {
    return while_loop(
        x[0], [](const Tensor& v) { return v < 10; }, [&](const Tensor& v) { return v * x[1]; },
        {.max_iterations = 10});
  };
  // 1 · 2⁴ = 16 is the first that is not below 10: d/dx = 2⁴, d/dk = 4·2³.
  const std::vector<Tensor> at{tensor(1.0), tensor(2.0)};
  expect_near(f(at), {16});
  const auto gradient = grad(f)(at);
  expect_near(gradient[0], {16});
  expect_near(gradient[1], {32});
  const Error unknown = error_of([&] {
    return grad([](const Tensor& x) {
      return while_loop(
          x, [](const Tensor& v) { return v < 10; }, [](const Tensor& v) { return v * 2; });
    })(tensor(1.0));
  });
  EXPECT_EQ(unknown.code(), ErrorCode::unsupported);
  EXPECT_EQ(unknown.op(), "while_loop");
}

TEST_P(ControlFlow, a_state_that_changes_its_kind_is_refused) {
  const Error error = error_of([] {
    return while_loop(
        tensor({1, 2}), [](const Tensor& v) { return all(v < 9); },
        [](const Tensor& v) { return v * 0.5; });
  });
  EXPECT_EQ(error.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(error.op(), "while_loop");
}

// Loops of known length -----------------------------------------------------------------------------

TEST_P(ControlFlow, for_loops_know_their_position) {
  const auto f = [](const Tensor& x) {
    return for_loop(5, x, [](const Tensor& i, const Tensor& v) { return v + i; });
  };
  expect_near(f(tensor({0.0, 100.0})), {10, 110});
  expect_near(for_loop(0, tensor(7.0), [](const Tensor&, const Tensor& v) { return v + 1; }), {7});
  expect_near(jit(f)(tensor({0.0, 100.0})), {10, 110});
}

TEST_P(ControlFlow, map_stacks_what_it_makes_of_each_element) {
  const Tensor x = reshape(iota({12}, DType::f32), {4, 3});
  const Tensor y = map([](const Tensor& row) { return row - mean(row); }, x);
  EXPECT_EQ(y.shape(), (Shape{4, 3}));
  expect_near(y, {-1, 0, 1, -1, 0, 1, -1, 0, 1, -1, 0, 1});
  const auto [low, high] = map(
      [](const std::pair<Tensor, Tensor>& both) {
        return std::pair{min(both.first, both.second), max(both.first, both.second)};
      },
      std::pair{tensor({1, 5}), tensor({2, 4})});
  expect_values<int>(low, {2}, {1, 4});
  expect_values<int>(high, {2}, {2, 5});
  EXPECT_EQ(map([](const Tensor& row) { return sum(row); }, zeros({0, 3})).shape(), Shape{0});
}

TEST_P(ControlFlow, scans_carry_a_state_either_way) {
  const auto running = [](const Tensor& sum, const Tensor& x) {
    return std::pair{sum + x, sum * x};
  };
  const auto [last, products] = scan(running, tensor(1.0), tensor({1.0, 2.0, 3.0}));
  expect_near(last, {7});
  expect_near(products, {1, 4, 12});
  const auto [first, back] = scan(running, tensor(1.0), tensor({1.0, 2.0, 3.0}), {.reverse = true});
  expect_near(first, {7});
  expect_near(back, {6, 8, 3});
}

TEST_P(ControlFlow, gradients_pass_through_scans) {
  // s' = s·w + x, results s·x: by hand over three elements.
  const auto f = [](const std::vector<Tensor>& in) {
    const auto [last, results] = scan(
        [&](const Tensor& s, const Tensor& x) {
          return std::pair{s * in[2] + x, s * x};
        },
        in[0], in[1]);
    return last * 2 + sum(results);
  };
  const auto by_hand = [](double s, std::array<double, 3> x, double w) {
    double total = 0;
    for (const double one : x) {
      total += s * one;
      s = s * w + one;
    }
    return 2 * s + total;
  };
  const std::vector<Tensor> at{tensor(0.5), tensor({1.0, -2.0, 3.0}), tensor(0.7)};
  const std::array<double, 3> x{1, -2, 3};
  expect_near(f(at), {by_hand(0.5, x, 0.7)}, 1e-5);
  const auto slope = [&](auto&& moved) {
    constexpr double h = 1e-6;
    return (moved(h) - moved(-h)) / (2 * h);
  };
  const auto got = grad(f)(at);
  expect_near(got[0], {slope([&](double h) { return by_hand(0.5 + h, x, 0.7); })}, 1e-4);
  expect_near(got[2], {slope([&](double h) { return by_hand(0.5, x, 0.7 + h); })}, 1e-4);
  std::vector<double> by_x;
  for (std::size_t k = 0; k < 3; ++k)
    by_x.push_back(slope([&](double h) {
      auto y = x;
      y[k] += h;
      return by_hand(0.5, y, 0.7);
    }));
  expect_near(got[1], by_x, 1e-4);
  expect_near(jit(grad(f))(at)[1], by_x, 1e-4);
}

TEST_P(ControlFlow, gradients_of_gradients_pass_through_loops) {
  const auto cube = [](const Tensor& x) {
    return for_loop(3, x * 0 + 1, [&](const Tensor&, const Tensor& v) { return v * x; });
  };
  expect_near(cube(tensor(2.0)), {8});
  expect_near(grad(cube)(tensor(2.0)), {12});
  expect_near(grad(grad(cube))(tensor(2.0)), {12});
}

TEST_P(ControlFlow, long_loops_run_without_piling_up) {
  const Tensor x =
      for_loop(2000, zeros({8}), [](const Tensor& i, const Tensor& v) { return v + i; });
  expect_near(x, std::vector<double>(8, 1999000.0));
}

TEST_P(ControlFlow, sequences_that_do_not_fit_are_refused) {
  const auto add = [](const std::pair<Tensor, Tensor>& both) { return both.first + both.second; };
  const Error lengths = error_of([&] { return map(add, std::pair{zeros({3}), zeros({4})}); });
  EXPECT_EQ(lengths.code(), ErrorCode::shape_mismatch);
  const Error scalar = error_of([] { return map([](const Tensor& x) { return x; }, tensor(1.0)); });
  EXPECT_EQ(scalar.code(), ErrorCode::shape_mismatch);
}

// Several at once -----------------------------------------------------------------------------------

TEST_P(ControlFlow, what_comes_after_a_loop_waits_for_it_and_nothing_else_does) {
  const auto slow = [](const Tensor& x) {
    return while_loop(
        x, [](const Tensor& v) { return v < 50; }, [](const Tensor& v) { return v + 1; });
  };
  std::vector<Tensor> loops;
  for (int i = 0; i < 8; ++i) loops.push_back(slow(tensor(static_cast<double>(i))) * 2);
  eval(loops);
  const Tensor beside = tensor({1.0, 2.0}) * 3;
  expect_near(beside, {3, 6});
  for (const Tensor& loop : loops) expect_near(loop, {100});
}

TEST_P(ControlFlow, a_loop_may_be_dropped_while_it_runs) {
  for (int i = 0; i < 20; ++i)
    while_loop(
        tensor(0.0), [](const Tensor& v) { return v < 200; }, [](const Tensor& v) { return v + 1; })
        .eval();
  expect_near(tensor({1.0, 2.0}) * 3, {3, 6});  // the device has not stumbled over any
}

// Calls of the program's functions ------------------------------------------------------------------

TEST_P(ControlFlow, hooks_see_values_inside_of_traced_functions) {
  Promise<std::vector<float>> seen;
  const auto f = jit([&](const Tensor& x) {
    return hook(x * 2, [&](const Tensor& v) { seen.set(v.to_vector<float>()); }) + 1;
  });
  expect_near(f(tensor({1.0, 2.0})), {3, 5});
  EXPECT_EQ(seen.future().get(), (std::vector{2.0F, 4.0F}));
  expect_near(grad([](const Tensor& x) { return sum(hook(x * 2, [](const Tensor&) {})); })(
                  tensor({1.0, 2.0})),
              {2, 2});
}

TEST_P(ControlFlow, host_calls_compute_between_kernels) {
  const auto f = jit([](const Tensor& x) {
    const Tensor sorted = host_call(x.spec(),
                                    [](const std::vector<Tensor>& in) {
                                      auto values = in[0].to_vector<float>();
                                      std::ranges::sort(values, std::greater{});
                                      return tensor(values, in[0].shape());
                                    },
                                    {x + 1});
    return sorted * 10;
  });
  expect_near(f(tensor({1.0, 3.0, 2.0})), {40, 30, 20});
}

TEST_P(ControlFlow, what_a_host_call_throws_reaches_who_reads_its_result) {
  const Tensor x = tensor({1.0});
  const Tensor broken = host_call(x.spec(),
                                  [](const std::vector<Tensor>&) -> Tensor {
                                    throw Error{"mine", ErrorCode::invalid_argument, "no"};
                                  },
                                  {x});
  const Error error = error_of([&] { return (broken + 1).to_vector<float>(); });
  EXPECT_EQ(error.op(), "mine");
  const Tensor other =
      host_call(x.spec(), [](const std::vector<Tensor>&) { return zeros({2}); }, {x});
  EXPECT_EQ(error_of([&] { return other.to_vector<float>(); }).code(), ErrorCode::shape_mismatch);
}

TEST_P(ControlFlow, loops_may_be_unrolled) {
  const auto body = [](const Tensor& i, const Tensor& x) { return x * 2 + i; };
  const Tensor x = tensor({1, -3});
  const std::vector<int> want = for_loop(7, x, body).to_vector<int>();
  for (const std::int64_t unroll : {2, 3, 7, 100}) {
    const Tensor y = for_loop(7, x, body, {.unroll = unroll});
    EXPECT_EQ(y.to_vector<int>(), want) << unroll;
    const bool loop =
        plan_text(std::array{for_loop(7, x, body, {.unroll = unroll})}).find("scan") !=
        std::string::npos;
    EXPECT_EQ(loop, unroll < 7) << unroll;
  }
  EXPECT_EQ(for_loop(0, x, body, {.unroll = 2}).to_vector<int>(), x.to_vector<int>());
  EXPECT_THROW((void)for_loop(3, x, body, {.unroll = 0}), Error);
  EXPECT_THROW((void)for_loop(-1, x, body), Error);

  const auto step = [](const Tensor& sum, const Tensor& one) {
    return std::pair{sum + one, sum * one};
  };
  const Tensor xs = reshape(iota({8}), {4, 2});
  for (const bool reverse : {false, true}) {
    const auto [last, rows] = scan(step, x, xs, {.reverse = reverse});
    const auto [flat_last, flat_rows] = scan(step, x, xs, {.reverse = reverse, .unroll = true});
    EXPECT_EQ(flat_last.to_vector<int>(), last.to_vector<int>());
    EXPECT_EQ(flat_rows.shape(), rows.shape());
    EXPECT_EQ(flat_rows.to_vector<int>(), rows.to_vector<int>());
  }
}

TEST_P(ControlFlow, results_with_too_many_axes_to_be_stacked_are_refused) {
  const Tensor most = ones(Shape::make(std::vector<std::int64_t>(Shape::max_rank, 1), "test"));
  const auto step = [&](const Tensor& sum, const Tensor& one) {
    return std::pair{sum + one, most};
  };
  for (const bool unroll : {false, true}) {
    const Error error = error_of([&] {
      return scan(step, tensor(1.0), tensor({1.0, 2.0}), {.unroll = unroll}).second;
    });
    EXPECT_EQ(error.op(), "scan");
    EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  }
  const auto sums = [](const Tensor& total, const Tensor& one) {
    return std::pair{total + sum(one), sum(one)};
  };
  for (const bool unroll : {false, true})
    EXPECT_EQ(scan(sums, tensor(1.0), most, {.unroll = unroll}).first.to_vector<float>().at(0), 2);
}

INSTANTIATE_TEST_SUITE_P(Devices, ControlFlow, every_device(), device_name);

// Kernels that a device lacks -------------------------------------------------------------------------

TEST(StandIn, runs_what_the_gpu_lacks_on_the_cpu_and_says_so_once) {
  const System system;
  const DeviceScope scope{system.device("vulkan")};
  LogCapture log{LogLevel::warn};
  const Tensor a = tensor({{4.0, 2.0}, {2.0, 3.0}});
  for (int i = 0; i < 2; ++i) {
    const Tensor l = linalg::cholesky(a * (i + 1.0)) * 1.0;
    EXPECT_EQ(l.buffer().device(), current_device());
    expect_near(matmul(l, transpose(l)),
                {4.0 * (i + 1), 2.0 * (i + 1), 2.0 * (i + 1), 3.0 * (i + 1)}, 1e-5);
  }
  int told = 0;
  for (const std::string& line : log.lines()) told += line.find("cholesky") != std::string::npos;
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace stoker
