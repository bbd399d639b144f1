// What models and fit() refuse, what they say about it, and that they are as they were afterwards:
// numbers, what the optimizer remembers, the key of what is drawn next, the learning rate.
#include <cstring>
#include <limits>
#include <stdexcept>

#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A model that has learnt for an epoch: it draws, remembers and counts.
class BadInput : public Tensors {
 protected:
  static Network network() {
    const Node hidden = dense(input("pixels", {2}), 6, {.activation = tanh, .name = "hidden"});
    return Network{dense(dropout(batch_norm(hidden), 0.1), 3, {.name = "scores"})};
  }
  static Dataset good(std::int64_t rows = 12) {
    const Tensor x = reshape(sin(iota({rows * 2}, DType::f32)), {rows, 2});
    return {x, remainder(iota({rows}), 3)};
  }

  void SetUp() override {
    fit(model, good(), {.epochs = 1, .batch_size = 4});
    before = state_of(model);
  }
  void TearDown() override { EXPECT_EQ(state_of(model), before) << "the model has changed"; }

  using State = std::map<std::string, std::vector<double>>;
  static State state_of(const Model& model) {
    State all;
    const TrainingState state = model.state();
    for (const auto& [name, tensor] : state.variables())
      all["variable " + name] = tensor.to_vector<double>();
    for (const auto& [name, tensor] : state.slots) all["slot " + name] = tensor.to_vector<double>();
    all["key"] = state.key.to_vector<double>();
    for (const std::string& name : model.frozen()) all["frozen " + name] = {};
    return all;
  }

  /// Refused with this code, and with every one of these texts in what is said.
  template <class F>
  static void expect_refused(const F& call, ErrorCode code, std::vector<std::string> texts) {
    const Error error = error_of([&] {
      call();
      return 0;
    });
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& text : texts)
      EXPECT_NE(std::string{error.reason()}.find(text), std::string::npos)
          << "'" << text << "' is not in: " << error.what();
  }

  Model model{network(), {.learning_rate = 0.01, .clip_norm = 1.0, .seed = 3}};
  State before;
};

// Numbers that are none ---------------------------------------------------------------------------

TEST_F(BadInput, with_nan_among_inputs_names_the_batch_and_the_row) {
  const Batch all = whole_batch(good());
  auto values = all.inputs[0].to_vector<float>();
  values[2 * 9 + 1] = static_cast<float>(nan);
  const Dataset poisoned{tensor(values, {12, 2}), all.targets[0]};
  for (const bool shuffle : {false, true}) {
    const Error error = error_of(
        [&] { return fit(model, poisoned, {.epochs = 3, .batch_size = 4, .shuffle = shuffle}); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string{error.reason()}.find("input 'pixels' of row 9 holds nan"),
              std::string::npos)
        << error.what();
    EXPECT_EQ(error.detail("row"), "9");
    EXPECT_EQ(error.detail("input"), "pixels");
    if (!shuffle) {
      EXPECT_EQ(error.detail("batch"), "2");
    }
  }
}

TEST_F(BadInput, with_infinite_targets_names_the_target_and_the_row) {
  const Batch all = whole_batch(good(4));
  Model lines{Network{dense(input({2}), 1, {.name = "line"})}, {.loss = "mse"}};
  const auto was = state_of(lines);
  const Dataset far{all.inputs[0], tensor({{0.0}, {1.0}, {-infinity}, {1.0}})};
  expect_refused([&] { fit(lines, far, {.epochs = 1, .batch_size = 2}); },
                 ErrorCode::invalid_argument,
                 {"the loss of batch", "target 0 of row 2 holds -inf"});
  EXPECT_EQ(state_of(lines), was);
}

TEST_F(BadInput, to_validate_with_undoes_the_epoch_before_it) {
  const Dataset poisoned{tensor({{0.0, 1.0}, {nan, 0.0}}), tensor({0, 1})};
  expect_refused([&] { fit(model, good(), {.validation = poisoned}); }, ErrorCode::invalid_argument,
                 {"the validation loss is nan", "input 'pixels' of row 1 holds nan"});
  const Dataset wrong{ones({2, 2}), tensor({0, 7})};
  expect_refused([&] { fit(model, good(), {.validation = wrong}); }, ErrorCode::invalid_argument,
                 {"target 0 of row 1 is 7", "3 classes"});
}

TEST_F(BadInput, with_a_learning_rate_that_is_too_high_says_so) {
  Model lines{Network{dense(input({2}), 1, {.name = "line"})},
              {.loss = "mse", .optimizer = "sgd", .learning_rate = 1e30}};
  const auto was = state_of(lines);
  const Dataset fine{ones({8, 2}), ones({8, 1})};
  expect_refused([&] { fit(lines, fine, {.epochs = 4, .batch_size = 2}); },
                 ErrorCode::invalid_argument, {"learning rate"});
  EXPECT_EQ(state_of(lines), was);
}

// Classes -----------------------------------------------------------------------------------------

TEST_F(BadInput, with_a_class_that_does_not_exist_names_it) {
  for (const int wrong : {3, -1, 1000}) {
    const Dataset data{ones({4, 2}), tensor({0, 1, wrong, 2})};
    expect_refused([&] { fit(model, data, {.epochs = 1, .batch_size = 2, .shuffle = false}); },
                   ErrorCode::invalid_argument,
                   {"batch 1", "target 0 of row 2 is " + std::to_string(wrong), "3 classes"});
  }
}

TEST_F(BadInput, with_classes_that_are_no_integers_says_what_came) {
  const Dataset data{ones({4, 2}), tensor({0.0, 1.0, 2.0, 2.0})};
  expect_refused([&] { fit(model, data); }, ErrorCode::dtype_mismatch, {"integers", "f32[4]"});
}

// Shapes ------------------------------------------------------------------------------------------

TEST_F(BadInput, with_more_inputs_than_targets_is_no_data_set) {
  expect_refused(
      [] {
        Dataset(ones({4, 2}), tensor({0, 1, 2}));
      },
      ErrorCode::shape_mismatch, {"target", "3 rows", "4"});
}

TEST_F(BadInput, of_another_width_says_what_was_expected) {
  const Dataset wide{ones({4, 5}), tensor({0, 1, 2, 0})};
  expect_refused([&] { fit(model, wide); }, ErrorCode::shape_mismatch, {"'pixels'", "[2]", "[5]"});
  expect_refused([&] { fit(model, good(), {.validation = wide}); }, ErrorCode::shape_mismatch,
                 {"'pixels'", "[2]", "[5]"});
  expect_refused([&] { (void)model.evaluate(wide); }, ErrorCode::shape_mismatch,
                 {"'pixels'", "[4,5]"});
  expect_refused(
      [&] {
        (void)model.predict(ones({4, 5}));
      },
      ErrorCode::shape_mismatch, {"'pixels'", "[batch, 2]", "[4,5]"});
  expect_refused([&] { (void)model.predict(ones({2})); }, ErrorCode::shape_mismatch,
                 {"'pixels'", "[batch, 2]"});
}

TEST_F(BadInput, with_targets_of_another_shape_says_both) {
  const Dataset two{ones({4, 2}), ones({4, 2})};
  expect_refused([&] { fit(model, two, {.batch_size = 4}); }, ErrorCode::shape_mismatch,
                 {"[4,3]", "[4,2]"});
}

TEST_F(BadInput, with_too_many_inputs_or_targets_counts_them) {
  const Tensor x = ones({4, 2});
  const Tensor y = tensor({0, 1, 2, 0});
  const Dataset inputs{std::vector<Tensor>{x, x}, std::vector<Tensor>{y}};
  expect_refused([&] { fit(model, inputs); }, ErrorCode::arity_mismatch, {"1 input", "2"});
  const Dataset targets{std::vector<Tensor>{x}, std::vector<Tensor>{y, y}};
  expect_refused([&] { fit(model, targets); }, ErrorCode::arity_mismatch, {"1 target", "2"});
  const Dataset none{std::vector<Tensor>{x}, std::vector<Tensor>{}};
  expect_refused([&] { fit(model, none); }, ErrorCode::arity_mismatch, {"1 target", "0"});
}

TEST_F(BadInput, of_single_steps_is_refused_as_well) {
  const Tensor y = tensor({0, 1, 2, 0});
  expect_refused(
      [&] {
        (void)model.train_step({{ones({4, 2})}, {tensor({0, 1})}, 4});
      },
      ErrorCode::shape_mismatch, {"[4]", "[2]"});
  expect_refused(
      [&] {
        (void)model.train_step({{ones({4, 3})}, {y}, 4});
      },
      ErrorCode::shape_mismatch, {"'pixels'"});
  expect_refused(
      [&] {
        (void)model.train_step({{ones({4, 2}, DType::s32)}, {y}, 4});
      },
      ErrorCode::dtype_mismatch, {"'pixels'", "f32", "s32"});
  expect_refused(
      [&] {
        (void)model.train_step({{Tensor{}}, {y}, 4});
      },
      ErrorCode::invalid_argument, {"without a value"});
  expect_refused(
      [&] {
        (void)model.train_step({{}, {y}, 4});
      },
      ErrorCode::arity_mismatch, {"1 input", "0"});
  expect_refused(
      [&] {
        (void)model.train_step({{ones({4, 2})}, {}, 4});
      },
      ErrorCode::arity_mismatch, {"1 target", "0"});
  expect_refused(
      [&] {
        (void)model.compute_gradients({{ones({4, 2})}, {tensor({0, 1})}, 4});
      },
      ErrorCode::shape_mismatch, {"[4]", "[2]"});
}

// Nothing -----------------------------------------------------------------------------------------

TEST_F(BadInput, that_is_empty_says_so) {
  const Dataset empty = good().subset({});
  expect_refused([&] { fit(model, empty); }, ErrorCode::invalid_argument, {"empty"});
  expect_refused([&] { fit(model, good(), {.validation = empty}); }, ErrorCode::invalid_argument,
                 {"validation", "empty"});
  expect_refused([&] { (void)model.evaluate(empty); }, ErrorCode::invalid_argument, {"no rows"});
}

// Options -----------------------------------------------------------------------------------------

TEST_F(BadInput, options_of_fit_are_checked_before_anything_is_done) {
  const auto refuses = [&](const FitOptions& options, ErrorCode code, const std::string& text) {
    expect_refused([&] { fit(model, good(), options); }, code, {text});
  };
  refuses({.epochs = 0}, ErrorCode::invalid_argument, "epochs");
  refuses({.epochs = -3}, ErrorCode::invalid_argument, "epochs");
  refuses({.first_epoch = 0}, ErrorCode::invalid_argument, "epochs");
  refuses({.epochs = 3, .first_epoch = 4}, ErrorCode::invalid_argument, "first_epoch = 4, got 3");
  refuses({.batch_size = 0}, ErrorCode::invalid_parameter, "batch_size");
  refuses({.batch_size = -32}, ErrorCode::invalid_parameter, "batch_size");
  refuses({.prefetch = -1}, ErrorCode::invalid_parameter, "prefetch");
  refuses({.metrics = {"acuracy"}}, ErrorCode::not_found, "did you mean 'accuracy'?");
  refuses({.metrics = {"precision(treshold=0.5)"}}, ErrorCode::invalid_parameter,
          "did you mean 'threshold'?");
  refuses({.metrics = {"accuracy"}}, ErrorCode::invalid_argument, "validation data");
}

TEST_F(BadInput, errors_name_what_was_called_and_not_what_it_is_made_of) {
  const Error batches = error_of([&] { return fit(model, good(), {.batch_size = 0}); });
  EXPECT_EQ(batches.op(), "fit");
  EXPECT_EQ(batches.reason(), "batch_size must be at least 1, got 0");
  EXPECT_EQ(error_of([&] { return fit(model, good(), {.metrics = {"acuracy"}}); }).op(), "fit");
  const Error metric = error_of(
      [&] { return fit(model, good(), {.metrics = {"top_k_categorical_accuracy(k=0)"}}); });
  EXPECT_EQ(metric.op(), "fit");
  EXPECT_EQ(metric.detail("part"), "top_k_categorical_accuracy") << "else nobody knows whose k";
  EXPECT_EQ(error_of([&] { return model.evaluate(good(), 0); }).op(), "evaluate");
  const auto made = [](const ModelOptions& options) {
    return error_of([&] { return Model{network(), options}; });
  };
  const Error decay = made({.weight_decay = -1});
  EXPECT_EQ(decay.op(), "model");
  EXPECT_EQ(decay.reason(), "weight_decay: expected a number of at least 0, got -1.000000");
  EXPECT_EQ(made({.accumulate_gradients = 0}).op(), "model");
  EXPECT_EQ(made({.clip_norm = 0}).op(), "model");
  EXPECT_EQ(made({.optimizer = optimizers::AdamW{.decay = -1}}).op(), "adamw");
}

TEST_F(BadInput, metrics_that_do_not_fit_leave_the_model_as_it_was) {
  expect_refused(
      [&] {
        fit(model, good(),
            {.epochs = 1, .validation = good(), .metrics = {"top_k_categorical_accuracy(k=4)"}});
      },
      ErrorCode::invalid_parameter, {"1 to the 3 classes, got 4"});
  expect_refused([&] { fit(model, good(), {.validation = good(), .metrics = {"recall"}}); },
                 ErrorCode::shape_mismatch, {"target and prediction differ"});
}

TEST_F(BadInput, options_of_models_are_checked_with_the_nearest_name) {
  const auto refuses = [](const ModelOptions& options, ErrorCode code, const std::string& text) {
    expect_refused([&] { Model(network(), options); }, code, {text});
  };
  refuses({.loss = "cross_entrpy"}, ErrorCode::not_found, "did you mean 'cross_entropy'?");
  refuses({.optimizer = "adm"}, ErrorCode::not_found, "did you mean 'adam'?");
  refuses({.losses = {"mse", "mse"}}, ErrorCode::arity_mismatch, "1 outputs, got 2");
  refuses({.learning_rate = -0.1}, ErrorCode::invalid_parameter, "learning_rate");
  refuses({.learning_rate = nan}, ErrorCode::invalid_parameter, "learning_rate");
  refuses({.accumulate_gradients = 0}, ErrorCode::invalid_parameter, "");
  refuses({.weight_decay = -1}, ErrorCode::invalid_parameter, "");
  refuses({.clip_norm = 0}, ErrorCode::invalid_parameter, "clip_norm");
  refuses({.clip_value = nan}, ErrorCode::invalid_parameter, "clip_value");
}

TEST_F(BadInput, callbacks_with_senseless_numbers_are_refused_when_they_are_made) {
  using namespace callbacks;
  const auto refuses = [](const std::function<Callback()>& make, const std::string& text) {
    expect_refused([&] { (void)make(); }, ErrorCode::invalid_argument, {text});
  };
  refuses([] { return early_stopping({.patience = 0}); }, "patience");
  refuses([] { return early_stopping({.min_delta = nan}); }, "min_delta");
  refuses([] { return checkpoint(0, "folder"); }, "every");
  refuses([] { return reduce_on_plateau({.patience = 0}); }, "patience");
  refuses([] { return reduce_on_plateau({.factor = 0}); }, "factor");
  refuses([] { return reduce_on_plateau({.factor = 1}); }, "factor");
  refuses([] { return reduce_on_plateau({.factor = nan}); }, "factor");
  refuses([] { return reduce_on_plateau({.min_scale = -1}); }, "min_scale");
  refuses([] { return warmup({.epochs = 0}); }, "epochs");
  refuses([] { return warmup({.start = -0.5}); }, "start");
}

// Layers and variables ----------------------------------------------------------------------------

TEST_F(BadInput, names_of_layers_that_do_not_exist_are_answered_with_the_nearest) {
  expect_refused([&] { model.freeze({"hiden"}); }, ErrorCode::not_found,
                 {"'hiden'", "did you mean 'hidden'?"});
  expect_refused(
      [&] {
        model.freeze({"hidden", "score"});
      },
      ErrorCode::not_found, {"did you mean 'scores'?"});
  expect_refused([&] { model.unfreeze({"hiden"}); }, ErrorCode::not_found,
                 {"did you mean 'hidden'?"});
  expect_refused(
      [&] {
        model.freeze({"hidden", "scores", "batch_norm_0"});
      },
      ErrorCode::invalid_argument, {"nothing to train"});
}

TEST_F(BadInput, variables_that_do_not_fit_are_named) {
  Variables variables = model.variables();
  variables["scores.kernel"] = ones({6, 4});
  expect_refused([&] { model.update_variables(variables); }, ErrorCode::shape_mismatch,
                 {"'scores.kernel'", "[6,4]", "[6,3]"});
  variables.erase("scores.kernel");
  expect_refused([&] { model.update_variables(variables); }, ErrorCode::not_found,
                 {"'scores.kernel' is missing"});
  variables = model.variables();
  variables["scores.kernl"] = ones({6, 3});
  expect_refused([&] { model.update_variables(variables); }, ErrorCode::not_found,
                 {"'scores.kernl'"});
}

TEST_F(BadInput, scales_of_the_learning_rate_are_numbers_of_at_least_0) {
  for (const double wrong : {-1.0, nan})
    expect_refused([&] { model.set_learning_rate_scale(wrong); }, ErrorCode::invalid_parameter,
                   {"at least 0"});
}

// Readers and callbacks ---------------------------------------------------------------------------

TEST_F(BadInput, what_a_reader_throws_comes_out_and_the_begun_epoch_is_undone) {
  const RowSpecs specs{{{DType::f32, {2}}}, {{DType::s32, {}}}};
  const auto torn = dataset_from_function(12, specs, [](std::int64_t row, const RowsInto& into) {
    if (row == 10) throw std::runtime_error{"row 10 cannot be read"};
    std::memset(into.inputs[0].data(), 0, into.inputs[0].size());
    std::memset(into.targets[0].data(), 0, into.targets[0].size());
  });
  try {
    fit(model, torn, {.epochs = 2, .batch_size = 2, .shuffle = false});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "row 10 cannot be read");
  }
}

TEST_F(BadInput, what_a_callback_throws_ends_training_after_the_last_whole_epoch) {
  Model other = model.clone();
  Model same = model.clone();
  fit(same, good(), {.epochs = 2});
  EXPECT_THROW(
      fit(other, good(), {.epochs = 5, .callbacks = {[](const EpochMetrics& metrics, Training&) {
                                         if (metrics.epoch == 2) throw std::runtime_error{"enough"};
                                       }}}),
      std::runtime_error);
  EXPECT_EQ(state_of(other), state_of(same));
}

}  // namespace
}  // namespace stoker::nn
