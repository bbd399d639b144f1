// A line found in noisy points: the smallest network there is, one dense layer with one unit.
//
//     example_linear_regression
//
// Draws 256 points around y = 3x - 0.5, lets stochastic gradient descent look for the line, and
// prints what it found. Ends with 1 if that is further from the truth than the noise explains.
#include <cmath>
#include <iostream>
#include <sstream>

#include "stoker/api/train.hpp"

namespace nn = stoker::nn;

namespace {

constexpr double slope = 3;
constexpr double intercept = -0.5;
constexpr double noise = 0.1;
constexpr std::int64_t points = 256;

std::string line(double slope_of, double intercept_of) {
  std::ostringstream text;
  text << "y = " << slope_of << "·x " << (intercept_of < 0 ? "- " : "+ ") << std::abs(intercept_of);
  return text.str();
}

/// Points [points, 1], x in [-1, 1). The seed decides them, on every device.
nn::Dataset noisy_line(std::uint64_t seed) {
  const auto [x, next] = stoker::random::uniform(stoker::random::key(seed), {points, 1}, -1, 1);
  const auto [error, unused] = stoker::random::normal(next, {points, 1}, 0, noise);
  return {x, slope * x + intercept + error};
}

}  // namespace

int main() try {
  const nn::Dataset data = noisy_line(7);

  // A dense layer is y = x·kernel + bias: with one input and one unit, a line.
  const nn::Node x = nn::input({1});
  nn::Model model{nn::Network{nn::dense(x, 1, {.name = "line"})},
                  {.loss = nn::losses::Mse{},
                   .optimizer = nn::optimizers::Sgd{.learning_rate = 0.1},
                   .seed = 1}};
  std::cout << model.summary() << '\n';

  const nn::History history = nn::fit(model, data, {.epochs = 20, .batch_size = 16});
  for (const nn::EpochMetrics& one : history)
    if (one.epoch % 5 == 0) std::cout << "epoch " << one.epoch << ": loss " << one.loss << '\n';

  // What was learnt are tensors with names, "layer.variable".
  const nn::Variables found = model.variables();
  const auto its_slope = found.at("line.kernel").item<double>();
  const auto its_intercept = found.at("line.bias").item<double>();
  std::cout << "found " << line(its_slope, its_intercept) << "; points were drawn around "
            << line(slope, intercept) << '\n'
            << "at x = 2 the model says " << model.predict(stoker::tensor({{2.0}})).item<double>()
            << '\n';

  // The mean of so many errors is about noise/√points; four times that is hardly ever exceeded.
  const double tolerance =
      4 * noise * std::sqrt(3.0 / points);  // of a slope: √3 times, var x = 1/3
  const bool close =
      std::abs(its_slope - slope) < tolerance && std::abs(its_intercept - intercept) < tolerance;
  std::cout << (close ? "within " : "NOT within ") << tolerance << '\n';
  return close ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
