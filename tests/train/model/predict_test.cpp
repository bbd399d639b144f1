// Predictions: traced once for each kind of input, always with the numbers that the model has, and a part of
// whatever function they are asked for in.
#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train/model/inference.hpp"
#include "stoker/api/train/model/model.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Predictions : public Tensors {
 protected:
  static Model two_layers(ModelOptions options = {.seed = 1}) {
    const Node x = input({2});
    return Model{Network{dense(dense(x, 8, {.activation = tanh}), 2)}, std::move(options)};
  }
  /// y = w·x + b.
  static Model line() {
    Model model{Network{dense(input({1}), 1, {.name = "d"})}, {.loss = "mse", .optimizer = "sgd"}};
    model.update_variables({{"d.kernel", tensor({{2.0}})}, {"d.bias", tensor({1.0})}});
    return model;
  }
  static Batch rows() {
    return {{tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}})}, {tensor({0, 1, 1, 0})}, 4};
  }
  static std::vector<float> floats(const Tensor& tensor) { return tensor.to_vector<float>(); }
};

TEST_F(Predictions, call_the_layers_once_for_inputs_of_one_shape) {
  std::atomic<int> calls = 0;
  const Node counted = function({input({2})}, [&](std::span<const Tensor> x) {
    ++calls;
    return x[0] * 2;
  });
  Model model{Network{dense(counted, 2)}, {.seed = 1}};
  calls = 0;
  const auto first = floats(model.predict(ones({3, 2})));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(floats(model.predict(ones({3, 2}))), first);
  EXPECT_EQ(calls, 1) << "the second one was traced, too";
  static_cast<void>(model.predict(ones({4, 2})));
  EXPECT_EQ(calls, 2) << "another shape is another program";
  model.train_step({{ones({4, 2})}, {tensor({0, 1, 1, 0})}, 4});
  calls = 0;
  EXPECT_NE(floats(model.predict(ones({3, 2}))), first) << "it was trained";
  EXPECT_EQ(calls, 0) << "numbers are arguments of the program";
}

TEST_F(Predictions, keep_one_program_for_each_kind_of_inputs) {
  const Network network{dense(input({2}), 2)};
  const Inference inference{network};
  const Variables variables = network.initialize(random::key(0));
  for (const std::int64_t batch : {1, 2, 1, 2, 1})
    static_cast<void>(inference.run(variables, {ones({batch, 2})}));
  EXPECT_EQ(inference.programs(), 2U);
  static_cast<void>(inference.apply(variables, {ones({3, 2})}));
  EXPECT_EQ(inference.programs(), 2U);
}

TEST_F(Predictions, see_whatever_has_become_of_the_model) {
  Model model = two_layers();
  const Tensor x = rows().inputs[0];
  const auto expect_current = [&](const char* after) {
    EXPECT_EQ(floats(model.predict(x)), floats(model.apply(model.variables(), x))) << after;
  };
  std::vector<std::vector<float>> seen{floats(model.predict(x))};
  const auto changed = [&](const char* after) {
    expect_current(after);
    EXPECT_NE(floats(model.predict(x)), seen.back()) << after;
    seen.push_back(floats(model.predict(x)));
  };
  const TrainingState before = model.state();
  model.train_step(rows());
  changed("a step");
  model.freeze({"dense_0"});
  expect_current("freezing");
  model.train_step(rows());
  changed("a step of what is not frozen");
  model.unfreeze({"dense_0"});
  expect_current("thawing");
  model.merge_variables({{"dense_1.bias", tensor({5.0, 6.0})}});
  changed("other numbers");
  model.deserialize_params(two_layers({.seed = 2}).serialize_params());
  changed("other parameters");
  model.restore(before);
  EXPECT_EQ(floats(model.predict(x)), seen.front());
}

TEST_F(Predictions, use_another_program_for_variables_of_another_dtype) {
  Model model = line();
  EXPECT_EQ(floats(model.predict(tensor({{3.0}}))), std::vector{7.0F});
  model.update_variables({{"d.kernel", as_type(tensor({{2.0}}), DType::f16)},
                          {"d.bias", as_type(tensor({4.0}), DType::f16)}});
  EXPECT_EQ(floats(model.predict(tensor({{3.0}}))), std::vector{10.0F});
}

TEST_F(Predictions, become_a_part_of_traced_functions) {
  const Model model = line();
  const auto twice = jit([&](const Tensor& x) { return model.predict(x + 1) * 2; });
  EXPECT_EQ(floats(twice(tensor({{3.0}}))), std::vector{18.0F});
  EXPECT_EQ(floats(twice(tensor({{4.0}}))), std::vector{22.0F});
  EXPECT_EQ(twice.programs(), 1U);
  EXPECT_NE(twice.text(tensor({{3.0}})).find("matmul"), std::string::npos)
      << twice.text(tensor({{3.0}}));
}

TEST_F(Predictions, can_be_differentiated) {
  const Model model = line();
  const auto slope = grad([&](const Tensor& x) { return sum(pow(model.predict(x), 2)); });
  EXPECT_EQ(floats(slope(tensor({{3.0}}))), std::vector{2 * 7.0F * 2});
  EXPECT_EQ(floats(jit(slope)(tensor({{3.0}}))), std::vector{2 * 7.0F * 2});
}

TEST_F(Predictions, can_be_mapped) {
  const Model model = two_layers();
  const Tensor x = reshape(iota({24}, DType::f32) / 24, {3, 4, 2});
  const Tensor mapped = vmap([&](const Tensor& one) { return model.predict(one); })(x);
  EXPECT_EQ(mapped.shape(), (Shape{3, 4, 2}));
  expect_near(mapped, model.predict(reshape(x, {12, 2})).to_vector<double>());
}

TEST_F(Predictions, of_given_variables_follow_training_also_inside_of_traced_functions) {
  Model model = two_layers();
  const Batch batch = rows();
  const auto score = jit([&](const Variables& variables, const Tensor& x) {
    return softmax(model.apply(variables, x), 1);
  });
  const auto before = floats(score(model.variables(), batch.inputs[0]));
  model.train_step(batch);
  EXPECT_NE(floats(score(model.variables(), batch.inputs[0])), before);
  expect_near(score(model.variables(), batch.inputs[0]),
              softmax(model.predict(batch.inputs[0]), 1).to_vector<double>());
  EXPECT_EQ(score.programs(), 1U);
}

TEST_F(Predictions, of_given_variables_are_refused_where_these_do_not_fit) {
  const Model model = two_layers();
  Variables others = model.variables();
  others["dense_1.bias"] = ones({1});
  EXPECT_EQ(code_of([&] { return model.apply(others, ones({1, 2})); }), ErrorCode::shape_mismatch);
  others["dense_1.bias"] = Tensor{};
  EXPECT_EQ(code_of([&] {
              return model.apply(others, ones({1, 2}));
            }),
            ErrorCode::invalid_argument);
}

TEST_F(Predictions, of_given_variables_have_gradients_by_them) {
  const Model model = two_layers();
  const Batch batch = rows();
  const auto by_variables = grad([&](const Variables& variables) {
    return model.compute_loss({model.apply(variables, batch.inputs[0])}, batch.targets);
  });
  const Variables gradients = by_variables(model.variables());
  for (const auto& [name, gradient] : model.compute_gradients(batch).gradients)
    expect_near(gradients.at(name), gradient.to_vector<double>(), 1e-5);
}

TEST_F(Predictions, are_refused_for_other_inputs_and_go_on_afterwards) {
  const Model model = two_layers();
  const auto right = floats(model.predict(ones({1, 2})));
  EXPECT_EQ(code_of([&] { return model.predict(ones({1, 3})); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] {
              return model.predict(ones({1, 2}, DType::s32));
            }),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of([&] {
              return model.predict(std::vector{ones({1, 2}), ones({1, 2})});
            }),
            ErrorCode::arity_mismatch);
  EXPECT_EQ(code_of([&] { return model.predict(Tensor{}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(floats(model.predict(ones({1, 2}))), right);
}

TEST_F(Predictions, end_at_their_limits) {
  const Model model = two_layers();
  const CommandOptions late{.deadline = system.clock().now()};
  EXPECT_EQ(code_of([&] {
              return model.predict(ones({1, 2}), late).to_vector<float>();
            }),
            ErrorCode::deadline_exceeded);
  EXPECT_EQ(model.predict(ones({1, 2})).to_vector<float>().size(), 2U);
}

TEST_F(Predictions, show_their_values_to_the_hooks_of_each_call) {
  const Node shown =
      function({input({1})}, [](std::span<const Tensor> x) { return hook("shown", x[0]); });
  const Model model{Network{dense(shown, 1)}, {.seed = 1}};
  const Tensor x = tensor({{3.0}});
  const auto first = floats(model.predict(x));
  for (int call = 0; call < 2; ++call) {
    Promise<std::vector<float>> seen;
    const auto future = seen.future();
    const NamedHooks hooks{{"shown", [&](const Tensor& value) { seen.set(floats(value)); }}};
    const HookScope here{hooks};
    EXPECT_EQ(floats(model.predict(x)), first);
    EXPECT_EQ(future.get(), std::vector{3.0F}) << call;
  }
}

TEST_F(Predictions, of_many_threads_are_those_before_or_after_a_step) {
  constexpr int steps = 20;
  constexpr int threads = 4;
  Model model = two_layers({.learning_rate = 0.1, .seed = 1});
  const Tensor x = rows().inputs[0].eval();
  std::mutex mutex;
  std::set<std::vector<float>> predicted;
  {
    std::vector<std::jthread> others;
    for (int i = 0; i < threads; ++i)
      others.emplace_back([&, model] {
        const DeviceScope here{model.device()};
        for (int k = 0; k < 3 * steps; ++k) {
          const auto values = floats(model.predict(x));
          const std::scoped_lock lock{mutex};
          predicted.insert(values);
        }
      });
    for (int step = 0; step < steps; ++step) model.train_step(rows());
  }
  Model again = two_layers({.learning_rate = 0.1, .seed = 1});
  std::set<std::vector<float>> possible{floats(again.predict(x))};
  for (int step = 0; step < steps; ++step) {
    again.train_step(rows());
    possible.insert(floats(again.predict(x)));
  }
  for (const auto& values : predicted) EXPECT_TRUE(possible.contains(values));
}

}  // namespace
}  // namespace stoker::nn
