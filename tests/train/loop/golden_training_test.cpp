// Whole training runs against what NumPy computed (golden/training.py): every optimizer, and all
// that ModelOptions puts before it, by single steps and by fit().
#include <algorithm>
#include <nlohmann/json.hpp>

#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/tests/nn/golden_run.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

using nlohmann::json;

const json& golden() {
  static const json read = golden_file("training");
  return read;
}

Network network() {
  return Network{
      dense(dense(input({3}), 5, {.activation = tanh, .name = "hidden"}), 3, {.name = "out"})};
}

ModelOptions options_of(const json& one) {
  ModelOptions options;
  options.loss = one["loss"].get<std::string>();
  options.optimizer = one["optimizer"].get<std::string>();
  options.weight_decay = one.value("weight_decay", 0.0);
  if (one.contains("clip_norm")) options.clip_norm = one["clip_norm"].get<double>();
  if (one.contains("clip_value")) options.clip_value = one["clip_value"].get<double>();
  options.accumulate_gradients = one.value("accumulate_gradients", 1);
  if (one.contains("schedule")) options.schedule = schedule(one["schedule"].get<std::string>());
  return options;
}

Model model_of(const json& one, DType dtype) {
  Model model{network(), options_of(one)};
  model.update_variables(golden_variables(golden()["begin"], model.network(), dtype));
  if (one.contains("frozen")) model.freeze(one["frozen"].get<std::vector<std::string>>());
  model.set_learning_rate_scale(one.value("learning_rate_scale", 1.0));
  return model;
}

/// Classes by index, or in rows of 0 and 1 for the losses of numbers.
Tensor target_of(const json& one, DType dtype) {
  const auto rows = static_cast<std::int64_t>(golden()["classes"].size());
  const Tensor classes = golden_tensor(golden()["classes"], {rows}, DType::s32);
  if (one["loss"] == "cross_entropy") return classes;
  return as_type(equal(new_axis(classes, 1), iota({3})), dtype);
}

Tensor input_of(DType dtype) {
  const auto rows = static_cast<std::int64_t>(golden()["classes"].size());
  return golden_tensor(golden()["x"], {rows, 3}, dtype);
}

std::vector<Batch> batches_of(const json& one, DType dtype) {
  const Tensor x = input_of(dtype);
  const Tensor target = target_of(one, dtype);
  const auto size = golden()["batch"].get<std::int64_t>();
  std::vector<Batch> made;
  for (std::int64_t from = 0; from < x.shape()[0]; from += size) {
    const std::int64_t rows = std::min(size, x.shape()[0] - from);
    made.push_back(
        {{slice_along_axis(x, from, rows)}, {slice_along_axis(target, from, rows)}, rows});
  }
  return made;
}

/// The case without its numbers.
std::string where(json one) {
  for (const char* key : {"losses", "epoch", "end"}) one.erase(key);
  return one.dump();
}

void expect_runs(const json& cases, DType dtype, double tolerance) {
  for (const json& one : cases) {
    Model model = model_of(one, dtype);
    expect_golden_run(model, batches_of(one, dtype), one, tolerance, where(one));
  }
}

/// Learning rates and what depends on the number of the step are f32 even then.
constexpr double in_double = 1e-7;

using GoldenTraining = Tensors;
class GoldenTrainingOnDevices : public TensorsOnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, GoldenTrainingOnDevices, every_device(), device_name);

TEST_F(GoldenTraining, is_what_numpy_computed_in_double_precision) {
  expect_runs(golden()["cases"], DType::f64, in_double);
}

TEST_F(GoldenTraining, is_what_numpy_computed) { expect_runs(golden()["cases"], DType::f32, 2e-5); }

TEST_P(GoldenTrainingOnDevices, with_several_options_is_what_numpy_computed) {
  // The optimizers themselves run on every device in optimizer_test.cpp. Five keys are in each
  // case.
  json with_adam = json::array();
  for (const json& one : golden()["cases"])
    if (one["optimizer"].get<std::string>().starts_with("adam(") && one.size() >= 7)
      with_adam.push_back(one);
  ASSERT_EQ(with_adam.size(), 3U);
  expect_runs(with_adam, DType::f32, 2e-5);
}

TEST_F(GoldenTraining, by_fit_is_that_by_steps) {
  for (const json& one : golden()["cases"]) {
    Model model = model_of(one, DType::f64);
    const History history =
        fit(model, Dataset{input_of(DType::f64), target_of(one, DType::f64)},
            {.epochs = 1, .batch_size = golden()["batch"].get<std::int64_t>(), .shuffle = false});
    EXPECT_NEAR(history.at(0).loss, one["epoch"].get<double>(), in_double) << where(one);
    for (const auto& [name, tensor] : model.variables())
      expect_golden(tensor, one["end"][name], in_double, where(one) + ", " + name);
  }
}

TEST_F(GoldenTraining, leaves_frozen_layers_as_they_were_to_the_bit) {
  int frozen = 0;
  for (const json& one : golden()["cases"]) {
    if (!one.contains("frozen")) continue;
    Model model = model_of(one, DType::f32);
    const Variables before = model.variables();
    for (const Batch& batch : batches_of(one, DType::f32)) (void)model.train_step(batch);
    for (const auto& [name, tensor] : model.variables()) {
      const bool its = name.starts_with(one["frozen"][0].get<std::string>() + ".");
      EXPECT_EQ(tensor.to_vector<float>() == before.at(name).to_vector<float>(), its) << name;
      frozen += its ? 1 : 0;
    }
  }
  EXPECT_EQ(frozen, 8);
}

}  // namespace
}  // namespace stoker::nn
