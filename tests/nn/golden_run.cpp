#include "golden_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker::nn {
namespace {

using nlohmann::json;

std::vector<double> flat(const json& list) {
  if (!list.is_array()) return {list.get<double>()};
  std::vector<double> all;
  for (const json& one : list)
    for (const double value : flat(one)) all.push_back(value);
  return all;
}

}  // namespace

json golden_file(const std::string& file) {
  return json::parse(std::ifstream{checkout_folder() / "tests/nn/golden" / (file + ".json")});
}

Tensor golden_tensor(const json& list, const Shape& shape, DType dtype) {
  return as_type(tensor(flat(list), shape), dtype);
}

Variables golden_variables(const json& lists, const Network& network, DType dtype) {
  Variables made;
  for (const LayerInfo& layer : network.layers())
    for (const VariableSpec& one : layer.variables) {
      const std::string name = layer.name + "." + one.name;
      made[name] = golden_tensor(lists.at(name), one.shape, dtype);
    }
  return made;
}

void expect_golden(const Tensor& got, const json& list, double tolerance,
                   const std::string& where) {
  const auto values = got.to_vector<double>();
  const auto expected = flat(list);
  ASSERT_EQ(values.size(), expected.size()) << where;
  double largest = 1;
  for (const double one : expected) largest = std::max(largest, std::abs(one));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(std::isfinite(expected[i])) << where << ": everything would be near";
    EXPECT_NEAR(values[i], expected[i], tolerance * largest) << where << ", element " << i;
  }
}

void expect_golden_run(Model& model, const std::vector<Batch>& batches, const json& run,
                       double tolerance, const std::string& where) {
  const json& losses = run.at("losses");
  ASSERT_EQ(losses.size(), batches.size()) << where;
  for (std::size_t i = 0; i < batches.size(); ++i)
    expect_golden(model.train_step(batches[i]), losses[i], tolerance,
                  where + ", loss of step " + std::to_string(i + 1));
  const Variables variables = model.variables();
  ASSERT_EQ(variables.size(), run.at("end").size()) << where;
  for (const auto& [name, tensor] : variables)
    expect_golden(tensor, run.at("end").at(name), tolerance, where + ", " + name + " at the end");
}

}  // namespace stoker::nn
