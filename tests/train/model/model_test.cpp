// Models: training that learns, repeats to the bit, goes on from a file, and leaves alone what it shall.
#include "stoker/api/train/model/model.hpp"
#include "stoker/api/nn/layers.hpp"

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Models : public Tensors {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder); }

  static Network two_layers() {
    const Node x = input({2});
    return Network{dense(dense(x, 8, {.activation = tanh}), 2)};
  }
  static Dataset exclusive_or() {
    return {tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}), tensor({0, 1, 1, 0})};
  }
  static std::map<std::string, std::vector<float>> values(const Model& model) {
    std::map<std::string, std::vector<float>> all;
    for (const auto& [name, tensor] : model.variables())
      all.emplace(name, tensor.to_vector<float>());
    return all;
  }

  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} /
      ("stoker_models_" + std::to_string(::getpid()) + "_" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Models, go_on_with_variables_of_the_program_when_their_device_was_lost_and_is_back) {
  const Faults faults;
  SystemOptions options;
  options.drivers = with_faults(faults);
  const System own{options};
  const Device device = own.device("cpu");
  const DeviceScope here{device};
  const Node x = input({2});
  Model model{Network{dense(dropout(dense(x, 8), 0.5), 2)}, {.seed = 1}};
  const auto kept = values(model);
  const auto lost = device.client()->actor().ended();
  faults.lose("unplugged");
  lost.wait();
  device.when_ready().get();
  Variables again;
  for (const auto& [name, tensor] : model.variables())
    again.emplace(name, stoker::tensor(kept.at(name), tensor.shape()));
  model.update_variables(again);
  EXPECT_EQ(values(model), kept);
  const Batch batch{{ones({4, 2})}, {tensor({0, 1, 1, 0})}};
  EXPECT_TRUE(std::isfinite(model.train_step(batch).item<float>()));
  EXPECT_NE(values(model), kept);
}

TEST_F(Models, go_on_with_saved_numbers_when_their_device_was_lost_and_is_back) {
  const Faults faults;
  SystemOptions options;
  options.drivers = with_faults(faults);
  const System own{options};
  const Device device = own.device("cpu");
  const DeviceScope here{device};
  const auto batch = [] {
    return Batch{{tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}})},
                 {tensor({0, 1, 1, 0})}};
  };
  std::filesystem::create_directories(folder);
  Model model{two_layers(), {.seed = 1}};
  static_cast<void>(model.train_step(batch()));
  model.save(folder / "one_step.safetensors");
  static_cast<void>(model.train_step(batch()));
  const auto after_two = values(model);

  const auto lost = device.client()->actor().ended();
  faults.lose("unplugged");
  lost.wait();
  device.when_ready().get();
  EXPECT_EQ(code_of([&] { return model.train_step(batch()).item<float>(); }),
            ErrorCode::device_lost);
  EXPECT_EQ(code_of([&] { return model.predict(batch().inputs)[0].to_vector<float>(); }),
            ErrorCode::device_lost);
  model.restore(Model::load(folder / "one_step.safetensors").state());
  static_cast<void>(model.train_step(batch()));
  EXPECT_EQ(values(model), after_two);
  EXPECT_EQ(model.predict(batch().inputs)[0].shape(), (Shape{4, 2}));
}

TEST_F(Models, learn_what_no_line_divides) {
  Model model{two_layers(), {.learning_rate = 0.05, .seed = 1}};
  const double before = model.evaluate(exclusive_or());
  const History history = fit(model, exclusive_or(), {.epochs = 150, .batch_size = 4});
  EXPECT_EQ(history.size(), 150U);
  EXPECT_LT(history.back().loss, 0.05);
  EXPECT_LT(model.evaluate(exclusive_or()), before / 5);
  const Tensor classes =
      argmax(model.predict(tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}})), {.axis = 1});
  EXPECT_EQ(classes.to_vector<int>(), (std::vector{0, 1, 1, 0}));
}

TEST_F(Models, find_the_line_that_data_lie_on) {
  const Tensor x = reshape(iota({32}, DType::f32) / 16 - 1, {32, 1});
  Model model{Network{dense(input({1}), 1, {.name = "line"})},
              {.loss = "mse", .optimizer = "sgd(momentum=0.9)", .learning_rate = 0.05, .seed = 3}};
  fit(model, Dataset{x, x * 3 - 0.5}, {.epochs = 60, .batch_size = 8});
  EXPECT_NEAR(model.variables().at("line.kernel").item<float>(), 3, 1e-3);
  EXPECT_NEAR(model.variables().at("line.bias").item<float>(), -0.5, 1e-3);
}

TEST_F(Models, step_as_the_formulas_say) {
  // y = w·x + b, mean of squares, plain descent: worked out by hand.
  const Network network{dense(input({1}), 1, {.name = "d"})};
  Model model{network, {.loss = "mse", .optimizer = "sgd", .learning_rate = 0.1}};
  model.update_variables({{"d.kernel", tensor({{2.0}})}, {"d.bias", tensor({1.0})}});
  const Batch batch{{tensor({{1.0}, {2.0}})}, {tensor({{2.0}, {6.0}})}, 2};
  const auto [loss, gradients] = model.compute_gradients(batch);
  EXPECT_NEAR(loss.item<float>(), (1 + 1) / 2.0, 1e-6);
  EXPECT_NEAR(gradients.at("d.kernel").item<float>(), (1 * 1 - 1 * 2), 1e-6);
  EXPECT_NEAR(gradients.at("d.bias").item<float>(), 0, 1e-6);
  EXPECT_NEAR(model.train_step(batch).item<float>(), 1, 1e-6);
  EXPECT_NEAR(model.variables().at("d.kernel").item<float>(), 2.1, 1e-6);
  EXPECT_NEAR(model.variables().at("d.bias").item<float>(), 1, 1e-6);
}

TEST_F(Models, repeat_to_the_bit_from_a_seed) {
  const auto train = [](std::uint64_t seed) {
    const Node x = input({2});
    Model model{Network{dense(dropout(dense(x, 16, {.activation = relu}), 0.3), 2)},
                {.seed = seed}};
    fit(model, exclusive_or(), {.epochs = 5, .batch_size = 3});
    return values(model);
  };
  EXPECT_EQ(train(7), train(7));
  EXPECT_NE(train(7), train(8));
}

TEST_F(Models, go_on_from_a_file_as_if_nothing_had_been) {
  const auto make = [] {
    const Node x = input({2});
    return Model{Network{dense(batch_norm(dropout(dense(x, 6), 0.2)), 2)},
                 {.optimizer = "adam", .learning_rate = 0.01, .clip_norm = 1.0, .seed = 5}};
  };
  Model whole = make();
  fit(whole, exclusive_or(), {.epochs = 6, .batch_size = 3});

  Model first = make();
  fit(first, exclusive_or(), {.epochs = 3, .batch_size = 3});
  std::filesystem::create_directories(folder);
  first.save(folder / "half.safetensors");
  Model second = Model::load(folder / "half.safetensors");
  EXPECT_EQ(values(second), values(first));
  fit(second, exclusive_or(), {.epochs = 6, .first_epoch = 4, .batch_size = 3});
  EXPECT_EQ(values(second), values(whole));
}

TEST_F(Models, ask_for_the_schedule_they_were_made_with) {
  std::filesystem::create_directories(folder);
  const auto path = folder / "scheduled.safetensors";
  Model{two_layers(), {.schedule = schedule("constant(value=0.1)")}}.save(path);
  const Error error = error_of([&] { return Model::load(path); });
  EXPECT_EQ(error.detail("parameter"), "schedule");
  EXPECT_NE(error.reason().find("give it again"), std::string_view::npos) << error.what();
  EXPECT_NO_THROW((void)Model::load(path, {}, schedule("constant(value=0.1)")));
  Model{two_layers()}.save(path);
  const Error other =
      error_of([&] { return Model::load(path, {}, schedule("constant(value=0.1)")); });
  EXPECT_EQ(other.detail("parameter"), "schedule");
  EXPECT_NE(other.reason().find("without a schedule"), std::string_view::npos) << other.what();
  EXPECT_EQ(error_of([&] {
              return Model{two_layers(),
                           {.learning_rate = 0.1, .schedule = schedule("constant(value=0.1)")}};
            }).detail("parameter"),
            "learning_rate");
}

TEST_F(Models, use_the_statistics_that_a_frozen_batch_norm_has) {
  const Node x = input({2});
  Model model{Network{dense(batch_norm(x, {.name = "norm"}), 2)}, {.optimizer = "sgd", .seed = 3}};
  model.freeze({"norm"});
  const Batch batch{{tensor({{5.0, 9.0}, {1.0, 2.0}})}, {tensor({0, 1})}, 2};
  const double inference =
      model.compute_loss(model.predict(batch.inputs), batch.targets).item<double>();
  const auto before = values(model);
  EXPECT_NEAR(model.train_step(batch).item<double>(), inference, 1e-5);
  const auto after = values(model);
  for (const char* name : {"norm.mean", "norm.var"})
    EXPECT_EQ(after.at(name), before.at(name)) << name;
  EXPECT_NE(after.at("dense_0.kernel"), before.at("dense_0.kernel")) << "the others are trained";
  model.unfreeze({"norm"});
  model.train_step(batch);
  EXPECT_NE(values(model).at("norm.mean"), before.at("norm.mean"));
}

TEST_F(Models, refuse_one_column_of_logits) {
  Model model{Network{dense(input({2}), 1)}};
  const Error error = error_of([&] {
    return model.train_step({{ones({1, 2})}, {tensor({0})}, 1});
  });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_NE(error.reason().find("binary_cross_entropy"), std::string_view::npos);
}

class ResumedOptimizers : public Models, public testing::WithParamInterface<const char*> {};

TEST_P(ResumedOptimizers, go_on_to_the_same_bits) {
  const auto make = [] { return Model{two_layers(), {.optimizer = GetParam(), .seed = 5}}; };
  Model whole = make();
  fit(whole, exclusive_or(), {.epochs = 6, .batch_size = 3});
  Model first = make();
  fit(first, exclusive_or(), {.epochs = 3, .batch_size = 3});
  std::filesystem::create_directories(folder);
  first.save(folder / "half.safetensors");
  Model second = Model::load(folder / "half.safetensors");
  fit(second, exclusive_or(), {.epochs = 6, .first_epoch = 4, .batch_size = 3});
  EXPECT_EQ(values(second), values(whole));
}

INSTANTIATE_TEST_SUITE_P(All, ResumedOptimizers,
                         testing::Values("sgd", "sgd(momentum=0.9, nesterov=true)", "adam", "adamw",
                                         "adabelief", "adagrad", "lamb", "noisy_sgd", "radam",
                                         "rmsprop(centered=true, momentum=0.9)", "yogi"));

TEST_F(Models, refuse_files_that_are_no_models) {
  std::filesystem::create_directories(folder);
  const auto path = folder / "x.safetensors";
  save_safetensors(path, {{"a", ones({2})}});
  EXPECT_EQ(error_of([&] { return Model::load(path); }).code(), ErrorCode::invalid_argument);
  Model model{two_layers()};
  model.save(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  EXPECT_EQ(error_of([&] { return Model::load(path); }).code(), ErrorCode::io_error) << "torn";
  EXPECT_THROW((void)Model::load(folder / "absent"), Error);
  EXPECT_THROW(model.save(folder / "no such folder" / "x"), Error);
}

TEST_F(Models, leave_frozen_layers_alone) {
  Model model{two_layers(), {.learning_rate = 0.1, .seed = 2}};
  model.freeze({"dense_0"});
  EXPECT_EQ(model.frozen(), (std::set<std::string>{"dense_0"}));
  EXPECT_EQ(model.info().trainable, 18U);
  EXPECT_NE(model.summary().find("[frozen]"), std::string::npos);
  const auto before = values(model);
  fit(model, exclusive_or(), {.epochs = 3});
  auto after = values(model);
  EXPECT_EQ(after.at("dense_0.kernel"), before.at("dense_0.kernel"));
  EXPECT_EQ(after.at("dense_0.bias"), before.at("dense_0.bias"));
  EXPECT_NE(after.at("dense_1.kernel"), before.at("dense_1.kernel"));
  model.unfreeze({"dense_0"});
  fit(model, exclusive_or(), {.epochs = 1});
  EXPECT_NE(values(model).at("dense_0.kernel"), before.at("dense_0.kernel"));
  EXPECT_EQ(error_of([&] {
              model.freeze({"dense_7"});
              return 0;
            }).code(),
            ErrorCode::not_found);
  EXPECT_EQ(error_of([&] {
              model.freeze({"dense_0", "dense_1"});
              return 0;
            }).code(),
            ErrorCode::invalid_argument)
      << "nothing would be left to train";
  EXPECT_TRUE(model.frozen().empty());
}

TEST_F(Models, are_as_they_were_when_training_fails) {
  Model model{two_layers(), {.seed = 2}};
  fit(model, exclusive_or(), {.epochs = 2});
  const auto before = values(model);
  const Dataset poisoned{tensor({{0.0, 0.0}, {0.0, std::nan("")}}), tensor({0, 1})};
  const Error nan = error_of([&] { return fit(model, poisoned, {.epochs = 2, .batch_size = 1}); });
  EXPECT_EQ(nan.code(), ErrorCode::invalid_argument);
  EXPECT_NE(nan.detail("batch"), "");
  const Dataset wrong_class{tensor({{0.0, 0.0}}), tensor({2})};
  EXPECT_EQ(error_of([&] { return fit(model, wrong_class, {.epochs = 1}); }).code(),
            ErrorCode::invalid_argument);
  const Dataset wide{ones({4, 3}), tensor({0, 1, 1, 0})};
  EXPECT_EQ(error_of([&] { return fit(model, wide); }).code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error_of([&] { return fit(model, exclusive_or(), {.epochs = 0}); }).code(),
            ErrorCode::invalid_argument);
  const Batch short_target{{ones({4, 2})}, {tensor({0, 1})}, 4};
  EXPECT_EQ(error_of([&] { return model.train_step(short_target); }).code(),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(values(model), before);
}

TEST_F(Models, tell_callbacks_and_obey_them) {
  Model model{two_layers(), {.seed = 2}};
  std::vector<std::int64_t> epochs;
  std::ostringstream log;
  const History history =
      fit(model, exclusive_or(),
          {.epochs = 10,
           .validation = exclusive_or(),
           .metrics = {"accuracy"},
           .callbacks = {[&](const EpochMetrics& metrics, Training& training) {
             epochs.push_back(metrics.epoch);
             EXPECT_TRUE(metrics.validation_loss.has_value());
             EXPECT_EQ(metrics.validation_metrics.count("accuracy"), 1U);
             EXPECT_EQ(metrics.remaining_milliseconds.has_value(), metrics.epoch < 10);
             if (metrics.epoch == 3) training.stop();
           }},
           .log = &log});
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(history.size(), 3U);
  EXPECT_NE(log.str().find("epoch 2/10  loss "), std::string::npos) << log.str();
  EXPECT_NE(log.str().find("validation loss "), std::string::npos);
  log << 0.25;
  EXPECT_EQ(log.str().substr(log.str().size() - 4), "0.25") << "its format is left as it was";
}

TEST_F(Models, stop_early_slow_down_and_keep_checkpoints) {
  Model model{two_layers(), {.learning_rate = 0.0, .seed = 2}};
  const Dataset all = exclusive_or();
  EXPECT_EQ(
      fit(model, all, {.epochs = 20, .callbacks = {callbacks::early_stopping({.patience = 3})}})
          .size(),
      4U);
  fit(model, all,
      {.epochs = 6, .callbacks = {callbacks::reduce_on_plateau({.patience = 2, .factor = 0.1})}});
  EXPECT_NEAR(model.learning_rate_scale(), 0.01, 1e-6);
  std::vector<double> rates;
  fit(model, all,
      {.epochs = 5,
       .callbacks = {callbacks::warmup({.epochs = 4, .start = 0.2}),
                     [&](const EpochMetrics&, Training& training) {
                       rates.push_back(training.model().learning_rate_scale());
                     },
                     callbacks::checkpoint(2, folder)}});
  for (std::size_t i = 0; i < rates.size(); ++i)
    EXPECT_NEAR(rates[i], (std::vector{0.4, 0.6, 0.8, 1.0, 1.0})[i], 1e-6);
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint_epoch_2.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint_epoch_4.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint_epoch_3.safetensors"));
}

TEST_F(Models, train_towards_several_targets) {
  const Node x = input({2});
  const Node h = dense(x, 4, {.activation = tanh});
  Model model{Network{{dense(h, 2, {.name = "class"}), dense(h, 1, {.name = "number"})}},
              {.losses = {"cross_entropy", "mse"}, .learning_rate = 0.05, .seed = 4}};
  const Tensor in = tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}});
  const Dataset data{{in}, {tensor({0, 1, 1, 1}), tensor({{0.0}, {1.0}, {1.0}, {2.0}})}};
  const History history = fit(model, data, {.epochs = 100, .batch_size = 4});
  EXPECT_LT(history.back().loss, history.front().loss / 10);
  EXPECT_EQ(model.predict(std::vector{in}).size(), 2U);
  EXPECT_EQ(error_of([&] {
              return Model{model.network(), {.losses = {"mse"}}};
            }).code(),
            ErrorCode::arity_mismatch);
}

TEST_F(Models, are_measured_over_all_rows_at_once) {
  // Always the first class: right for one row of the first batch and none of the second.
  const Network network{dense(input({1}), 2, {.name = "d"})};
  Model model{network, {.seed = 2}};
  model.update_variables({{"d.kernel", zeros({1, 2})}, {"d.bias", tensor({1.0, 0.0})}});
  const Dataset data{zeros({3, 1}), tensor({0, 1, 1})};
  const Evaluation found = model.evaluate(data, {"accuracy"}, 2);
  EXPECT_NEAR(found.metrics.at("accuracy"), 1.0 / 3, 1e-6);
  EXPECT_NEAR(found.loss, std::log(1 + std::exp(-1)) / 3 + std::log(1 + std::exp(1)) * 2 / 3, 1e-6);
  EXPECT_EQ(error_of([&] { return model.evaluate(data, {"acuracy"}).loss; }).code(),
            ErrorCode::not_found);
}

TEST_F(Models, copies_go_their_own_way) {
  Model model{two_layers(), {.seed = 2}};
  Model copy = model.clone();
  const Model same = model;
  const auto before = values(model);
  fit(model, exclusive_or(), {.epochs = 1});
  EXPECT_EQ(values(copy), before);
  EXPECT_EQ(values(same), values(model));
  fit(copy, exclusive_or(), {.epochs = 1});
  EXPECT_EQ(values(copy), values(model)) << "the same steps from the same state";
}

TEST_F(Models, say_what_they_are_and_how_fast) {
  const Model model{two_layers(), {.optimizer = "sgd", .seed = 2}};
  EXPECT_EQ(model.summary(),
            "layer (kind)     output      parameters  stored  inputs\n"
            "--------------------------------------------------------\n"
            "input (input)    [batch, 2]           0\n"
            "dense_0 (dense)  [batch, 8]          24  f32     input\n"
            "dense_1 (dense)  [batch, 2]          18  f32     dense_0\n"
            "parameters: 42, trainable: 42, not trainable: 0\n"
            "bytes: 168, f32: 168\n");
  const ModelInfo info = model.info();
  EXPECT_EQ(info.parameters, 42U);
  EXPECT_EQ(info.bytes, 42U * 4);
  EXPECT_EQ(info.layers, 2U);
  EXPECT_EQ(info.loss, "cross_entropy");
  EXPECT_EQ(info.optimizer, "sgd");
  EXPECT_EQ(info.device, "cpu");
  const Timing timing = model.benchmark({ones({4, 2})}, 1, 5);
  EXPECT_EQ(timing.runs, 5);
  EXPECT_LE(timing.least, timing.median);
  EXPECT_LE(timing.median, timing.most);
  const StepProfile profile = model.profile_step({{ones({4, 2})}, {tensor({0, 1, 0, 1})}, 4}, 3);
  EXPECT_GT(profile.total, 0);
  EXPECT_GT(profile.loss, 0);
}

}  // namespace
}  // namespace stoker::nn
