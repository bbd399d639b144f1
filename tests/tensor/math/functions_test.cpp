// Functions of tensors that are traced, differentiated, branched and looped, as several of these
// meet. Each alone has its own file: jit_test.cpp, grad_test.cpp, control_flow_test.cpp,
// custom_grad_test.cpp, vmap_test.cpp and names_test.cpp.
#include <atomic>
#include <sstream>

#include "stoker/tests/tensor/differences.hpp"

namespace stoker {
namespace {

using Functions = TensorsOnDevices;

// Tracing -------------------------------------------------------------------------------------------

TEST_P(Functions, choose_by_shape_and_dtype_while_they_are_traced) {
  // Host code runs while tracing: another shape may be another program.
  const auto f = jit([](const Tensor& x) {
    if (x.rank() > 1) return sum(x, {Axes{-1}});
    return is_integer(x.dtype()) ? x * 10 : x * 100;
  });
  expect_near(f(tensor({{1.0, 2.0}, {3.0, 4.0}})), {3, 7});
  expect_near(f(tensor({1, 2})), {10, 20});
  expect_near(f(tensor({1.0, 2.0})), {100, 200});
}

TEST_P(Functions, that_throw_while_they_are_traced_are_traced_again) {
  int calls = 0;
  const auto f = jit([&](const Tensor& x) {
    if (++calls == 1) throw Error{"mine", ErrorCode::invalid_argument, "not yet"};
    return x + 1;
  });
  EXPECT_EQ(error_of([&] { return f(tensor({1.0})); }).op(), "mine");
  expect_near(f(tensor({1.0})), {2});
  expect_near(f(tensor({2.0})), {3});
  EXPECT_EQ(calls, 2);
  const auto wrong = jit([](const Tensor& x) { return matmul(x, ones({5, 6})); });
  EXPECT_EQ(error_of([&] { return wrong(ones({3, 4})); }).op(), "matmul");
}

TEST_P(Functions, inside_of_traced_functions_become_part_of_them) {
  int calls = 0;
  const auto inner = jit([&](const Tensor& x) {
    ++calls;
    return x * 2;
  });
  const auto outer = jit([&](const Tensor& x) { return inner(x) + inner(x + 1); });
  expect_near(outer(tensor({1.0})), {6});
  expect_near(outer(tensor({2.0})), {10});
  EXPECT_EQ(calls, 2) << "once for each use, while the outer one is traced";
}

TEST_P(Functions, show_what_was_traced) {
  const auto f = jit([](const Tensor& x) { return exp(x) / sum(exp(x)); });
  const std::string text = f.text(tensor({1.0, 2.0}));
  for (const char* const op : {"exp", "sum", "divide"})
    EXPECT_NE(text.find(op), std::string::npos) << text;
  EXPECT_EQ(text.find("multiply"), std::string::npos) << text;
}

TEST_P(Functions, run_where_the_innermost_scope_says) {
  const Device here = current_device();
  EXPECT_EQ(here, system.device(GetParam()));
  {
    const DeviceScope other{system.device("null")};
    EXPECT_EQ(current_device(), system.device("null"));
    {
      const DeviceScope again{here};
      EXPECT_EQ((ones({2}) + 1).buffer().device(), here);
    }
    EXPECT_EQ(current_device(), system.device("null"));
  }
  EXPECT_EQ(current_device(), here);
}

// Gradients -----------------------------------------------------------------------------------------

TEST_P(Functions, give_value_and_gradient_in_one_call) {
  int calls = 0;
  const auto [value, gradient] = value_and_grad([&](const Tensor& x) {
    ++calls;
    return sum(x * x);
  })(tensor({1.0, 3.0}));
  EXPECT_EQ(calls, 1);
  expect_near(value, {10});
  expect_near(gradient, {2, 6});
}

TEST_P(Functions, keep_values_where_they_stop_gradients) {
  const Tensor x = tensor({2.0, -3.0});
  expect_values<float>(stop_gradient(x), {2}, {2, -3});
  expect_near(grad([](const Tensor& v) { return sum(stop_gradient(v * v)); })(x), {0, 0});
  // Around and inside of it the way stays open.
  expect_near(grad([](const Tensor& v) { return sum(v * v + stop_gradient(v) * v); })(x), {6, -9});
}

TEST_P(Functions, refuse_gradients_of_what_is_no_float) {
  EXPECT_EQ(code_of([] {
              return grad([](const Tensor& x) { return sum(x); })(tensor({1, 2}));
            }),
            ErrorCode::invalid_argument);
  const Error called = error_of([] {
    return grad([](const Tensor& x) {
      return sum(host_call(x.spec(), [](const std::vector<Tensor>& in) { return in[0]; }, {x}));
    })(tensor({1.0}));
  });
  EXPECT_EQ(called.code(), ErrorCode::unsupported);
  EXPECT_EQ(called.op(), "host_call");
}

TEST_P(Functions, have_gradients_of_gradients_through_loops_and_branches) {
  const Function f = [](const auto& x) {
    const Tensor y = while_loop(
        x[0], [](const Tensor& v) { return sum(v * v) < 40; },
        [&](const Tensor& v) { return v * x[1] + sin(v); }, {.max_iterations = 8});
    return cond(
        sum(y) > 0, [&] { return y * y * x[1]; }, [&] { return y * 3; });
  };
  const std::vector<Tensor> at{sample({3}, 0.5, 2), sample({3}, 1.2, 1.6, 1)};
  expect_gradient(f, at);
  const auto slope = [&](const std::vector<Tensor>& x) {
    const std::vector<Tensor> gradients =
        grad([&](const std::vector<Tensor>& v) { return weighed(f(v)); })(x);
    return weighed(gradients[0]) + weighed(gradients[1] * gradients[1]);
  };
  expect_differences(slope, at, grad(slope)(at), {1e-5});
  expect_differences(slope, at, jit(grad(slope))(at), {1e-5});
}

TEST_P(Functions, may_use_a_result_beside_a_branch_that_takes_it_too) {
  const Tensor x = tensor({1.0, 1.5});
  const auto twice = [&](const Tensor& v) {
    return cond(
        sum(x) > 0, [&] { return v * 2; }, [&] { return v - 2; });
  };
  const Tensor w = twice(x);
  expect_near(twice(w) * w, {8, 18});
}

// Conditions ----------------------------------------------------------------------------------------

TEST_P(Functions, take_any_number_but_zero_for_true) {
  const auto chosen = [](const Tensor& condition) {
    return cond(
               condition, [] { return tensor(1); }, [] { return tensor(0); })
        .item<int>();
  };
  for (const double yes : {1.0, -1.0, 0.5, 1e-30}) EXPECT_EQ(chosen(tensor(yes)), 1) << yes;
  for (const double no : {0.0, -0.0}) EXPECT_EQ(chosen(tensor(no)), 0) << no;
  EXPECT_EQ(chosen(tensor({{256}})), 1) << "one element of any rank, no byte of it";
  const auto down = [](const Tensor& x) {
    return while_loop(
        x, [](const Tensor& v) { return v; }, [](const Tensor& v) { return v - 1; });
  };
  EXPECT_EQ(down(tensor(5)).item<int>(), 0);
  EXPECT_EQ(
      while_loop(
          tensor(-3), [](const Tensor& v) { return v; }, [](const Tensor& v) { return v + 1; })
          .item<int>(),
      0);
}

TEST_P(Functions, refuse_loops_and_branches_that_do_not_hold_together) {
  const auto always = [](const Tensor&) { return tensor(1); };
  const Error grown = error_of([&] {
    return while_loop(ones({2}), always, [](const Tensor& v) { return concatenate({v, v}); });
  });
  EXPECT_EQ(grown.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(grown.op(), "while_loop");
  EXPECT_EQ(grown.detail("expected"), "f32[2]");
  EXPECT_EQ(grown.detail("got"), "f32[4]");
  const Error many = error_of([] {
    return while_loop(
        ones({2}), [](const Tensor& v) { return v > 0; }, [](const Tensor& v) { return v; });
  });
  EXPECT_EQ(many.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(many.op(), "while_loop");
  const Error counts = error_of([&] {
    return cond(
        tensor(1), [] { return std::vector{ones({2})}; },
        [] {
          return std::vector{ones({2}), ones({2})};
        });
  });
  EXPECT_EQ(counts.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(counts.op(), "cond");
}

// Calls of the program's functions ------------------------------------------------------------------

TEST_P(Functions, show_the_value_of_every_round) {
  Promise<int> all;
  std::atomic<int> rounds = 0;
  std::atomic<int> total = 0;
  const Tensor y = for_loop(4, tensor(1), [&](const Tensor&, const Tensor& v) {
    return hook(v * 2, [&](const Tensor& seen) {
      total += seen.item<int>();
      if (++rounds == 4) all.set(total);
    });
  });
  EXPECT_EQ(y.item<int>(), 16);
  EXPECT_EQ(all.future().get(), 2 + 4 + 8 + 16);
}

TEST_P(Functions, show_nothing_that_nobody_uses) {
  std::atomic<int> shown = 0;
  const auto f = jit([&](const Tensor& x) {
    const Tensor unused = hook(x * 2, [&](const Tensor&) { ++shown; });
    return x + 1;
  });
  expect_near(f(tensor({1.0})), {2});
  system.stop();
  EXPECT_EQ(shown, 0);
}

TEST_P(Functions, print_values_and_what_computes_them) {
  Promise<std::string> printed;
  const auto f = jit([&](const Tensor& x) {
    return hook(x * 2, [&](const Tensor& v) {
      std::ostringstream out;
      out << v;
      printed.set(out.str());
    });
  });
  expect_near(f(tensor({1.0, 2.5})), {2, 5});
  EXPECT_EQ(printed.future().get(), "f32[2] [2, 5]");
  const std::vector<Tensor> lazy{exp(ones({2}).eval() * 3)};
  EXPECT_NE(graph_text(lazy).find("exp"), std::string::npos);
}

TEST_P(Functions, compute_on_the_host_what_a_spec_promises) {
  // Another shape and dtype than the input's, in a loop.
  const auto digits = [](const Tensor& x) {
    return host_call({DType::s64, Shape{2}},
                     [](const std::vector<Tensor>& in) {
                       const auto n = in[0].item<std::int64_t>();
                       return tensor<std::int64_t>({n / 10, n % 10});
                     },
                     {x});
  };
  const Tensor all = map(digits, tensor({42, 7, 99}));
  EXPECT_EQ(all.dtype(), DType::s64);
  expect_values<int>(all, {3, 2}, {4, 2, 0, 7, 9, 9});
}

INSTANTIATE_TEST_SUITE_P(Devices, Functions, every_device(), device_name);

}  // namespace
}  // namespace stoker
