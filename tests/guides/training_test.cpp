// The examples of docs/training.md; see guides_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "stoker/api/system.hpp"
#include "stoker/api/train.hpp"

namespace nn = stoker::nn;

namespace {

class TrainingGuide : public testing::Test {
 protected:
  stoker::System system;
  stoker::DeviceScope scope{system.device("cpu")};
};

nn::Model exclusive_or_model() {
  const nn::Node in = nn::input({2});
  return nn::Model{nn::Network{nn::dense(nn::dense(in, 8, {.activation = nn::tanh}), 2)},
                   {.learning_rate = 0.05, .seed = 1}};
}
nn::Dataset exclusive_or() {
  return {stoker::tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}),
          stoker::tensor({0, 1, 1, 0})};
}

TEST_F(TrainingGuide, graphs) {
  const nn::Node x = nn::input({8, 8, 1});
  nn::Node y = nn::conv(x, 16, {.kernel_size = 3, .padding = nn::same, .activation = nn::relu});
  y = nn::max_pool(y, {2});
  y = nn::dense(nn::flatten(y), 10, {.name = "scores"});
  const nn::Network network{y};
  EXPECT_EQ(network.layer("scores").outputs[0].to_string(), "[batch, 10]");
}

struct Highway {
  static constexpr const char* kind = "highway";
  double openness = -1;
  nn::ActivationName activation = nn::relu;
  std::string name = {};
};
template <class V> void visit_options(Highway& o, V&& visit) {
  visit("openness", o.openness, nn::within(-5, 5), "how the bias of the gate begins");
  visit("activation", o.activation, nn::anything, "what goes through where the gate is open");
}

void add_highway() {
  nn::add_layer_kind<Highway>(
      {.summary = "g · activation(x · kernel) + (1 - g) · x, g being sigmoid(x · gate + bias)",
       .variables =
           [](std::span<const stoker::TensorSpec> inputs, const Highway& options) {
             const std::int64_t features = inputs[0].shape[1];
             return std::vector<nn::VariableSpec>{
                 {"kernel", {features, features}},
                 {"gate", {features, features}},
                 {"bias",
                  {features},
                  nn::InitializerName{nn::initializers::Full{options.openness}}}};
           },
       .apply =
           [](nn::LayerCall& call, const Highway& options) {
             const stoker::Tensor& x = call.x();
             const stoker::Tensor open =
                 stoker::sigmoid(stoker::matmul(x, call.variable("gate")) + call.variable("bias"));
             const stoker::Tensor y =
                 nn::activation(options.activation)(stoker::matmul(x, call.variable("kernel")));
             return std::vector<stoker::Tensor>{open * y + (1 - open) * x};
           }});
}

TEST_F(TrainingGuide, kinds_of_ones_own) {
  add_highway();
  const nn::Node x = nn::input({4});
  const nn::Network network{nn::Layer{Highway{.openness = -2, .name = "way"}}(x)};
  const nn::Network again = nn::Network::from_json(network.to_json());
  EXPECT_EQ(again.layer("way").kind, "highway");
  const nn::Node from_text = nn::Layer{"highway(activation=tanh)"}(x);
  EXPECT_THROW(nn::Layer{Highway{.openness = 6}}, stoker::Error);
  EXPECT_EQ(nn::Network{from_text}.layers()[0].variables.size(), 3U);
}

TEST_F(TrainingGuide, optional_inputs) {
  const nn::Node x = nn::input("x", {4});
  const nn::Node mask = nn::optional_input("mask", {4});
  const nn::Node used = nn::or_else(nn::Layer{nn::layers::Multiply{}}({x, mask}), x);
  const nn::Model model{nn::Network{
      std::vector<nn::Network::NamedOutput>{{"features", used}, {"scores", nn::dense(used, 2)}}}};
  const auto with =
      model.predict_by_name({{"x", stoker::ones({1, 4})}, {"mask", stoker::zeros({1, 4})}});
  const auto without = model.predict_by_name({{"x", stoker::ones({1, 4})}});
  EXPECT_EQ(with.at("features").to_vector<float>(), std::vector<float>(4, 0));
  EXPECT_EQ(without.at("features").to_vector<float>(), std::vector<float>(4, 1));
}

TEST_F(TrainingGuide, training) {
  const nn::Node in = nn::input({2});
  nn::Model model{nn::Network{nn::dense(nn::dense(in, 8, {.activation = nn::tanh}), 2)},
                  {.loss = nn::losses::CrossEntropy{},
                   .optimizer = nn::optimizers::Adam{.learning_rate = 0.05},
                   .seed = 1}};
  const nn::Dataset data{stoker::tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}),
                         stoker::tensor({0, 1, 1, 0})};
  const nn::History history =
      nn::fit(model, data,
              {.epochs = 100,
               .batch_size = 4,
               .callbacks = {nn::callbacks::early_stopping({.patience = 50})}});
  EXPECT_LT(history.back().loss, 0.1);
  const stoker::Tensor scores = model.predict(stoker::tensor({{1.0, 0.0}}));
  EXPECT_EQ(scores.shape(), (stoker::Shape{1, 2}));
}

TEST_F(TrainingGuide, going_on) {
  const auto file = std::filesystem::path{testing::TempDir()} /
                    ("stoker_guide_" + std::to_string(::getpid()) + ".safetensors");
  nn::Model model = exclusive_or_model();
  const nn::Dataset data = exclusive_or();
  const nn::FitOptions first{.epochs = 8,
                             .callbacks = {nn::callbacks::early_stopping({.patience = 50})}};
  const nn::History history = nn::fit(model, data, first);
  nn::save_training(model, history.back().epoch, first.callbacks, file);
  nn::Model loaded = nn::Model::load(file);
  nn::FitOptions second{.epochs = 20,
                        .callbacks = {nn::callbacks::early_stopping({.patience = 50})}};
  second.first_epoch = nn::recall_training(file, second.callbacks) + 1;
  nn::fit(loaded, data, second);
  nn::Model whole = exclusive_or_model();
  nn::fit(whole, data, {.epochs = 20});
  for (const auto& [name, tensor] : whole.variables())
    EXPECT_EQ(loaded.variables().at(name).to_vector<float>(), tensor.to_vector<float>()) << name;
  std::filesystem::remove(file);
}

TEST_F(TrainingGuide, watching) {
  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} / ("stoker_guide_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  nn::Model model = exclusive_or_model();
  const nn::Dataset data = exclusive_or();
  nn::fit(model, data,
          {.epochs = 3,
           .batch_size = 2,
           .callbacks = {nn::callbacks::logging(std::cout), nn::callbacks::csv(folder / "log.csv")},
           .on_batch = {nn::callbacks::progress_bar(std::cerr)}});
  EXPECT_TRUE(std::filesystem::exists(folder / "log.csv"));
  std::filesystem::remove_all(folder);
}

class Dashboard : public stoker::Actor {
 public:
  void on(const nn::TrainingProgress& at) { loss_ = at.loss; }
  void on(const nn::EpochMetrics& metrics) { epochs_ = metrics.epoch; }

 private:
  double loss_ = 0;
  std::int64_t epochs_ = 0;
};

TEST_F(TrainingGuide, in_the_background) {
  nn::Model model = exclusive_or_model();
  const nn::Dataset data = exclusive_or();
  const nn::Trainer training =
      nn::train(system.supervisor(), model, data, {.epochs = 50, .batch_size = 2});
  training.subscribe(system.shared_executor(), [&](const nn::TrainingProgress& at) {
    if (at.ends_epoch()) std::cout << nn::progress_line(at) << std::endl;
  });
  training.pause().get();  // ready when no step runs any more
  training.resume();
  const nn::History history = training.history().get();  // or co_await async_get(…)
  EXPECT_EQ(history.size(), 50U);
  training.subscribe(stoker::spawn<Dashboard>(system.shared_executor(), {.name = "dashboard"}));
}

TEST_F(TrainingGuide, models_as_things) {
  const auto file = std::filesystem::path{testing::TempDir()} /
                    ("stoker_guide_" + std::to_string(::getpid()) + ".json");
  const nn::Node h = nn::dense(nn::input({2}), 8, {.activation = nn::tanh});
  const nn::Model model{nn::Network{nn::dense(h, 2, {.name = "scores"})}, {.seed = 1}};
  model.export_params(file);  // by name, as JSON
  nn::Model other{model.network(), {.seed = 2}};
  other.import_params(file);  // exactly the same, as a whole or not at all
  const nn::QuantizedModel small = other.quantize(stoker::DType::s8);
  EXPECT_EQ(small.model.network().layer("scores").kind, "quantized_dense");
  nn::Model tuned = other.compile(
      {.loss = nn::losses::Mse{}, .optimizer = nn::optimizers::Sgd{.learning_rate = 0.1}});
  tuned.freeze([](const nn::LayerInfo& layer) { return layer.name != "scores"; });
  EXPECT_EQ(tuned.variables(nn::Part::trainable_parameters).size(), 2U);
  std::filesystem::remove(file);
}

TEST_F(TrainingGuide, precision_and_memory) {
  nn::Node y = nn::input({16});
  for (int i = 0; i < 8; ++i) y = nn::dense(y, 16, {.activation = nn::tanh});
  const nn::Network network{nn::dense(y, 2)};
  const nn::Batch batch{{stoker::ones({64, 16})}, {stoker::zeros({64}, stoker::DType::s32)}, 64};
  const nn::Model whole{network};
  nn::Model model{network, {.precision = nn::precisions::Mixed{}, .checkpoints = 4}};
  EXPECT_EQ(model.loss_scale(), 32768);
  model.train_step(batch);
  EXPECT_EQ(model.skipped_steps(), 0);
  EXPECT_LT(model.step_memory(batch).working, whole.step_memory(batch).working);
}

TEST_F(TrainingGuide, predictions_in_traced_functions) {
  nn::Model model{nn::Network{nn::dense(nn::input({4}), 3)}, {.seed = 1}};
  const nn::Batch batch{{stoker::ones({2, 4})}, {stoker::zeros({2}, stoker::DType::s32)}, 2};
  const auto scores = stoker::jit([model](const nn::Variables& variables, const stoker::Tensor& x) {
    return stoker::softmax(model.apply(variables, x), 1);
  });
  const stoker::Tensor before = scores(model.variables(), batch.inputs[0]);
  model.train_step(batch);
  const stoker::Tensor after = scores(model.variables(), batch.inputs[0]);  // not traced again
  EXPECT_GT(after.to_vector<float>()[0], before.to_vector<float>()[0]);
  EXPECT_EQ(scores.programs(), 1U);
}

}  // namespace
