// Networks that compute in 16 bits: what is cast, that they learn, and steps that do not count.
#include "stoker/api/train/model/precision.hpp"
#include "stoker/api/nn/layers.hpp"

#include <unistd.h>
#include <filesystem>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Precisions : public Tensors {
 protected:
  static Network two_layers() {
    return Network{dense(dense(input({2}), 8, {.activation = tanh}), 2)};
  }
  static Dataset exclusive_or() {
    return {tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}), tensor({0, 1, 1, 0})};
  }
  static Tensor all_rows() { return tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}); }
  static std::map<std::string, DType> dtypes(const Variables& variables) {
    std::map<std::string, DType> all;
    for (const auto& [name, tensor] : variables) all.emplace(name, tensor.dtype());
    return all;
  }
  static std::map<std::string, std::vector<float>> values(const Model& model) {
    std::map<std::string, std::vector<float>> all;
    for (const auto& [name, tensor] : model.variables())
      all.emplace(name, tensor.to_vector<float>());
    return all;
  }
};

TEST_F(Precisions, cast_what_layers_are_given_and_what_the_network_gives) {
  std::vector<DType> seen;
  const auto look = [&seen](std::span<const Tensor> x) {
    seen.push_back(x[0].dtype());
    return x[0];
  };
  const Node h = function({dense(input({2}), 3)}, look, "look");
  const Network network{dense(h, 2)};
  const Network mixed =
      with_precision(network, precision(precisions::Mixed{.compute = DType::bf16}));
  const Variables variables = network.initialize(random::key(1));
  seen.clear();
  const Tensor y = mixed.forward(variables, std::vector{ones({4, 2})}).outputs[0];
  EXPECT_EQ(seen, std::vector{DType::bf16});
  EXPECT_EQ(y.dtype(), DType::f32);
  expect_near(y,
              network.forward(variables, std::vector{ones({4, 2})}).outputs[0].to_vector<double>(),
              0.02);
  const Network half = with_precision(network, precision("mixed(output=f16)"));
  EXPECT_EQ(half.forward(variables, std::vector{ones({4, 2})}).outputs[0].dtype(), DType::f16);
  EXPECT_EQ(half.outputs()[0].dtype, DType::f16);
}

TEST_F(Precisions, leave_exceptions_and_states_in_f32) {
  const Node x = input({2});
  const Network network{
      dense(batch_norm(dense(x, 3, {.name = "in"}), {.name = "norm"}), 2, {.name = "out"})};
  Model model{network, {.precision = "mixed(params=f16)", .seed = 1}};
  const std::map<std::string, DType> expected{
      {"in.bias", DType::f16},    {"in.kernel", DType::f16}, {"norm.beta", DType::f32},
      {"norm.gamma", DType::f32}, {"norm.mean", DType::f32}, {"norm.var", DType::f32},
      {"out.bias", DType::f16},   {"out.kernel", DType::f16}};
  EXPECT_EQ(dtypes(model.variables()), expected);
  model.train_step({{all_rows()}, {tensor({0, 1, 1, 0})}, 4});
  EXPECT_EQ(dtypes(model.variables()), expected) << "from step to step";

  const Precision some = precision("mixed(params=bf16, except=\"out norm\")");
  const Variables kept = stored(network, some, network.initialize(random::key(1)));
  EXPECT_EQ(kept.at("out.kernel").dtype(), DType::f32);
  EXPECT_EQ(kept.at("in.kernel").dtype(), DType::bf16);
}

TEST_F(Precisions, work_in_every_family_of_layers) {
  const auto check = [](const Node& y, const Tensor& x) {
    const Network network{y};
    const Variables variables = network.initialize(random::key(3));
    const std::vector<double> exact =
        network.forward(variables, std::vector{x}).outputs[0].to_vector<double>();
    for (const char* policy : {"mixed", "mixed(compute=bf16)", "mixed(params=f16, compute=f32)"}) {
      const Precision chosen = precision(policy);
      const Network mixed = with_precision(network, chosen);
      const Variables kept = stored(network, chosen, variables);
      expect_near(mixed.forward(kept, std::vector{x}).outputs[0], exact, 0.1);
      const Network::Result trained =
          mixed.forward(kept, std::vector{x}, Mode::training, random::key(1));
      EXPECT_EQ(trained.outputs[0].dtype(), DType::f32) << policy;
      for (const auto& [name, state] : trained.states)
        EXPECT_EQ(state.dtype(), variables.at(name).dtype()) << name;
    }
  };
  const Tensor rows = sin(reshape(iota({32}, DType::f32), {2, 4, 4}));
  check(Layer{layers::Lstm{.units = 3}}(input({4, 4})), rows);
  check(Layer{layers::Gru{.units = 3}}(input({4, 4})), rows);
  check(layer_norm(Layer{layers::MultiHeadAttention{.heads = 2}}(input({4, 4}))), rows);
  const Tensor image = reshape(rows, {2, 4, 4, 1});
  Node y = conv(input({4, 4, 1}), 2, {.kernel_size = 3});
  check(flatten(max_pool(batch_norm(y), {2})), image);
  check(embedding(input({3}, DType::s32), 7, 4), tensor({{0, 6, 2}, {1, 1, 3}}));
}

TEST_F(Precisions, learn_as_f32_does) {
  const auto train = [](const char* policy) {
    Model model{two_layers(), {.learning_rate = 0.05, .precision = policy, .seed = 1}};
    return fit(model, exclusive_or(), {.epochs = 100, .batch_size = 4}).back().loss;
  };
  const double exact = train("full");
  EXPECT_LT(exact, 0.1);
  EXPECT_NEAR(train("mixed"), exact, 0.02);
  EXPECT_NEAR(train("mixed(compute=bf16)"), exact, 0.05);
}

TEST_F(Precisions, give_losses_and_gradients_that_are_not_scaled) {
  const Batch batch{{all_rows()}, {tensor({0, 1, 1, 0})}, 4};
  const Model exact{two_layers(), {.seed = 1}};
  Model mixed{two_layers(), {.precision = "mixed", .seed = 1}};
  EXPECT_EQ(mixed.loss_scale(), 32768);
  const auto one = exact.compute_gradients(batch);
  const auto other = mixed.compute_gradients(batch);
  EXPECT_NEAR(one.loss.item<double>(), other.loss.item<double>(), 2e-3);
  for (const auto& [name, gradient] : one.gradients) {
    EXPECT_EQ(other.gradients.at(name).dtype(), DType::f32);
    expect_near(other.gradients.at(name), gradient.to_vector<double>(), 2e-3);
  }
  EXPECT_NEAR(mixed.train_step(batch).item<double>(), one.loss.item<double>(), 2e-3);
}

TEST_F(Precisions, keep_small_gradients_by_scaling) {
  // The gradient, 2e-9, is below the least that f16 holds, 6e-8.
  const Network network{dense(input({1}), 1, {.use_bias = false, .name = "d"})};
  const Batch batch{{tensor({{1e-4}})}, {tensor({{0.0}})}, 1};
  const auto gradient = [&](const char* scale) {
    Model model{network, {.loss = "mse", .precision = "mixed", .loss_scale = scale, .seed = 1}};
    model.update_variables({{"d.kernel", tensor({{0.1}})}});
    return model.compute_gradients(batch).gradients.at("d.kernel").item<double>();
  };
  EXPECT_EQ(gradient("identity"), 0);
  EXPECT_NEAR(gradient("static"), 2e-9, 2e-11);
}

TEST_F(Precisions, skip_a_step_whose_gradients_overflow_and_lower_the_scale) {
  const Node x = input({2});
  const Network network{dense(batch_norm(dense(x, 4, {.name = "in"})), 2, {.name = "out"})};
  Model model{network,
              {.optimizer = "adam",
               .precision = "mixed",
               .loss_scale = "dynamic(value=1e30, period=2, factor=1024)",
               .seed = 1}};
  const Batch batch{{all_rows()}, {tensor({0, 1, 1, 0})}, 4};
  const auto before = values(model);
  const double loss = model.train_step(batch).item<double>();
  EXPECT_TRUE(std::isfinite(loss)) << "only gradients overflow";
  EXPECT_EQ(values(model), before) << "neither parameters nor states";
  EXPECT_EQ(model.skipped_steps(), 1);
  EXPECT_NEAR(model.loss_scale() * 1024, 1e30, 1e24);
  EXPECT_EQ(model.state().slots.at("adam.step").item<int>(), 0) << "nor the optimizer's slots";

  int skipped = 1;
  while (model.skipped_steps() == skipped && skipped < 20) {
    model.train_step(batch);
    ++skipped;
  }
  ASSERT_LT(skipped, 20) << "the scale falls until gradients fit";
  EXPECT_NE(values(model), before);
  const double found = model.loss_scale();
  model.train_step(batch);
  EXPECT_EQ(model.skipped_steps(), skipped - 1);
  EXPECT_NEAR(model.loss_scale(), found * 1024, found) << "after two steps that counted it grows";
}

TEST_F(Precisions, go_on_from_a_file_with_their_scale) {
  const auto file = std::filesystem::path{testing::TempDir()} /
                    ("stoker_precision_" + std::to_string(::getpid()) + ".safetensors");
  const auto make = [] {
    return Model{two_layers(),
                 {.learning_rate = 0.01,
                  .precision = "mixed(compute=f16, params=f16)",
                  .loss_scale = "dynamic(value=1e20, period=3)",
                  .checkpoints = 2,
                  .seed = 5}};
  };
  Model whole = make();
  fit(whole, exclusive_or(), {.epochs = 6, .batch_size = 2});
  Model first = make();
  fit(first, exclusive_or(), {.epochs = 3, .batch_size = 2});
  first.save(file);
  Model second = Model::load(file);
  std::filesystem::remove(file);
  EXPECT_GT(second.skipped_steps(), 0);
  EXPECT_EQ(second.loss_scale(), first.loss_scale());
  EXPECT_EQ(second.options().checkpoints, 2);
  fit(second, exclusive_or(), {.epochs = 6, .first_epoch = 4, .batch_size = 2});
  EXPECT_EQ(values(second), values(whole));
  EXPECT_EQ(second.loss_scale(), whole.loss_scale());
  EXPECT_EQ(second.skipped_steps(), whole.skipped_steps());
}

TEST_F(Precisions, learn_and_go_on_with_a_scale_that_stays) {
  const auto file = std::filesystem::path{testing::TempDir()} /
                    ("stoker_static_scale_" + std::to_string(::getpid()) + ".safetensors");
  const auto make = [](const char* scale) {
    return Model{two_layers(),
                 {.learning_rate = 0.05, .precision = "mixed", .loss_scale = scale, .seed = 1}};
  };
  Model whole = make("static(value=256)");
  EXPECT_LT(fit(whole, exclusive_or(), {.epochs = 100, .batch_size = 2}).back().loss, 0.1);
  EXPECT_EQ(whole.loss_scale(), 256);
  EXPECT_EQ(whole.skipped_steps(), 0);

  Model first = make("static(value=256)");
  fit(first, exclusive_or(), {.epochs = 50, .batch_size = 2});
  first.save(file);
  Model second = Model::load(file);
  std::filesystem::remove(file);
  EXPECT_EQ(second.loss_scale(), 256);
  fit(second, exclusive_or(), {.epochs = 100, .first_epoch = 51, .batch_size = 2});
  EXPECT_EQ(values(second), values(whole));

  Model far = make("static(value=1e30)");
  const auto before = values(far);
  far.train_step({{all_rows()}, {tensor({0, 1, 1, 0})}, 4});
  EXPECT_EQ(values(far), before) << "gradients overflow, so the step does not count";
  EXPECT_EQ(far.skipped_steps(), 1);
  EXPECT_NEAR(far.loss_scale(), 1e30, 1e24) << "and the scale stays nevertheless";
}

TEST_F(Precisions, repeat_to_the_bit) {
  const auto train = [] {
    Model model{two_layers(), {.precision = "mixed", .seed = 7}};
    fit(model, exclusive_or(), {.epochs = 5, .batch_size = 3});
    return values(model);
  };
  EXPECT_EQ(train(), train());
}

TEST_F(Precisions, scale_f16_alone_unless_told_otherwise) {
  const auto scale_of = [](const char* policy) {
    const Model model{two_layers(), {.precision = policy}};
    return std::pair{model.info().loss_scale, model.loss_scale()};
  };
  using Pair = std::pair<std::string, double>;
  EXPECT_EQ(scale_of("full"), (Pair{"identity", 1}));
  EXPECT_EQ(scale_of("mixed"), (Pair{"dynamic", 32768}));
  EXPECT_EQ(scale_of("mixed(compute=bf16)"), (Pair{"identity", 1}));
  const Model forced{two_layers(), {.loss_scale = "static(value=8)"}};
  EXPECT_EQ(forced.loss_scale(), 8);
  EXPECT_EQ(forced.info().precision, "full");
}

TEST_F(Precisions, of_unknown_names_are_refused) {
  EXPECT_EQ(code_of([] { return precision("mixd"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { return precision("mixed(compute=f8)"); }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return precision("full(compute=f16)"); }), ErrorCode::invalid_parameter);
  const Error error = nn::error_of([] {
    return Model{two_layers(), {.precision = "mixed(except=\"dense_7\")"}};
  });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(std::string{error.reason()}.find("did you mean 'dense_0'"), std::string::npos);
  EXPECT_EQ(code_of([] {
              return Model{two_layers(), {.loss_scale = "dynamical"}};
            }),
            ErrorCode::not_found);
}

TEST_F(Precisions, weights_of_losses_count) {
  const Node h = dense(input({2}), 3);
  const Network network{{dense(h, 1, {.name = "a"}), dense(h, 1, {.name = "b"})}};
  const Batch batch{{all_rows()}, {ones({4, 1}), zeros({4, 1})}, 4};
  const auto loss = [&](std::vector<double> weights) {
    return Model{network, {.loss = "mse", .loss_weights = std::move(weights), .seed = 1}}
        .compute_gradients(batch)
        .loss.item<double>();
  };
  EXPECT_NEAR(loss({2, 3}), 2 * loss({1, 0}) + 3 * loss({0, 1}), 1e-5);
  EXPECT_NEAR(loss({}), loss({1, 1}), 1e-6);
  EXPECT_EQ(code_of([&] { return loss({1}); }), ErrorCode::arity_mismatch);
  const Model model{network, {.loss = "mse", .loss_weights = {2, 3}, .seed = 1}};
  EXPECT_NEAR(model.compute_loss({ones({4, 1}), ones({4, 1})}, {zeros({4, 1}), zeros({4, 1})})
                  .item<double>(),
              5, 1e-6);
  EXPECT_EQ(code_of([&] {
              return model.compute_loss({ones({4, 1})}, {zeros({4, 1}), zeros({4, 1})});
            }),
            ErrorCode::arity_mismatch);
}

}  // namespace
}  // namespace stoker::nn
