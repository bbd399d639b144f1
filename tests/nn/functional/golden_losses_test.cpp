// Every loss against what NumPy computed (golden/losses.py): values, gradients, and steps of
// training.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "stoker/api/nn/layers.hpp"
#include "stoker/tests/nn/golden_run.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

using nlohmann::json;

const json& golden() {
  static const json read = golden_file("losses");
  return read;
}

Shape shape_of(const std::vector<std::int64_t>& extents) { return Shape::make(extents, "golden"); }

/// Indices are integers, everything else is like the prediction.
Tensor target_of(const json& one, DType dtype) {
  const json& target = one["target"];
  const bool rows = target[0].is_array();
  const auto extent = [](const json& list) { return static_cast<std::int64_t>(list.size()); };
  const Shape shape = rows ? Shape{extent(target), extent(target[0])} : Shape{extent(target)};
  const bool integers = rows ? target[0][0].is_number_integer() : target[0].is_number_integer();
  return golden_tensor(target, shape, integers ? DType::s32 : dtype);
}

Shape prediction_shape(const json& one) {
  auto extents = one["shape"].get<std::vector<std::int64_t>>();
  extents.back() = one["units"].get<std::int64_t>();
  return shape_of(extents);
}

std::string text_of(const json& one) { return one["loss"].get<std::string>(); }

void expect_values_and_gradients(DType dtype, double tolerance) {
  for (const json& one : golden()["cases"]) {
    const Tensor target = target_of(one, dtype);
    const Tensor prediction = golden_tensor(one["prediction"], prediction_shape(one), dtype);
    const Loss of = loss(text_of(one));
    const auto [value, slope] =
        value_and_grad([&](const Tensor& p) { return of.of(target, p); })(prediction);
    EXPECT_EQ(value.dtype(), dtype) << of.text;
    expect_golden(value, one["value"], tolerance, of.text + ", value");
    expect_golden(slope, one["gradient"], tolerance, of.text + ", gradient");
  }
}

/// A network with the numbers that the script begins with, and its one batch over and over.
void expect_training(const json& cases, DType dtype, double tolerance) {
  for (const json& one : cases) {
    const Shape shape = shape_of(one["shape"].get<std::vector<std::int64_t>>());
    Shape row;
    for (std::size_t axis = 1; axis < shape.rank(); ++axis) row = row.appended(shape[axis]);
    const auto units = one["units"].get<std::int64_t>();
    const Node hidden = dense(input(row), 4, {.activation = tanh, .name = "hidden"});
    const Network network{
        dense(hidden, units, {.activation = one["head"].get<std::string>(), .name = "out"})};
    Model model{network,
                {.loss = text_of(one),
                 .optimizer = "sgd",
                 .learning_rate = golden()["rate"].get<double>()}};
    model.update_variables(
        golden_variables(golden()["begin"][std::to_string(units)], network, dtype));
    const json& inputs = golden()["inputs"][std::to_string(shape.rank())];
    const Batch batch{{golden_tensor(inputs, shape, dtype)}, {target_of(one, dtype)}, shape[0]};
    expect_golden_run(model, std::vector<Batch>(one["losses"].size(), batch), one, tolerance,
                      text_of(one));
  }
}

using GoldenLosses = Tensors;
class GoldenLossesOnDevices : public TensorsOnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, GoldenLossesOnDevices, every_device(), device_name);

TEST_F(GoldenLosses, are_there_for_every_name) {
  for (const NamedKind& kind : loss_kinds())
    EXPECT_TRUE(std::ranges::any_of(golden()["cases"], [&](const json& one) {
      const std::string text = text_of(one);
      return text.substr(0, text.find('(')) == kind.name;
    })) << kind.name;
}

TEST_F(GoldenLosses, have_values_and_gradients_in_double_precision) {
  expect_values_and_gradients(DType::f64, 1e-9);
}

TEST_F(GoldenLosses, train_in_double_precision) {
  expect_training(golden()["cases"], DType::f64, 1e-8);
}

TEST_P(GoldenLossesOnDevices, have_values_and_gradients) {
  expect_values_and_gradients(DType::f32, 1e-5);
}

TEST_P(GoldenLossesOnDevices, train) {
  // With options it is another number in the same program; each program costs a driver half a
  // second.
  json plain = json::array();
  for (const json& one : golden()["cases"])
    if (text_of(one).find('(') == std::string::npos) plain.push_back(one);
  expect_training(plain, DType::f32, 1e-5);
}

}  // namespace
}  // namespace stoker::nn
