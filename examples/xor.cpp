// Exclusive or: four points that no line divides, learnt by a network with one hidden layer.
//
//     example_xor
//
// Prints how the loss falls, what a single dense layer makes of the same points, and the plane as
// the network sees it. Ends with 1 if one of the four answers is wrong.
#include <iostream>

#include "stoker/api/train.hpp"

namespace nn = stoker::nn;

namespace {

nn::Dataset exclusive_or() {
  return {stoker::tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}),
          stoker::tensor({0, 1, 1, 0})};
}

/// Two scores for each row, of "equal" and "different"; trained the same way whatever is inside.
nn::Model trained(const nn::Node& scores) {
  nn::Model model{nn::Network{scores},
                  {.loss = nn::losses::CrossEntropy{},
                   .optimizer = nn::optimizers::Adam{.learning_rate = 0.05},
                   .seed = 1}};
  const nn::History history = nn::fit(model, exclusive_or(), {.epochs = 200, .batch_size = 4});
  for (const nn::EpochMetrics& one : history)
    if (one.epoch % 50 == 0) std::cout << "  epoch " << one.epoch << ": loss " << one.loss << '\n';
  return model;
}

/// The class of each point of a grid over [-0.5, 1.5]², the first row on top.
void draw(const nn::Model& model) {
  constexpr int side = 21;
  std::vector<float> points;
  for (int i = side - 1; i >= 0; --i)
    for (int j = 0; j < side; ++j) {
      points.push_back(-0.5F + 0.1F * static_cast<float>(j));
      points.push_back(-0.5F + 0.1F * static_cast<float>(i));
    }
  const stoker::Tensor grid = stoker::tensor(points, {side * side, 2});
  const auto classes = stoker::argmax(model.predict(grid), {.axis = 1}).to_vector<int>();
  for (std::size_t i = 0; i < classes.size(); ++i)
    std::cout << (classes[i] == 1 ? '#' : '.') << (i % side == side - 1 ? "\n" : " ");
}

}  // namespace

int main() try {
  const nn::Node x = nn::input({2});
  std::cout << "one dense layer, which divides by a line:\n";
  const nn::Model line = trained(nn::dense(x, 2));
  std::cout << "with 8 hidden units:\n";
  const nn::Model model = trained(nn::dense(nn::dense(x, 8, {.activation = nn::tanh}), 2));
  draw(model);

  const nn::Dataset data = exclusive_or();
  const double of_line = line.evaluate(data, {nn::metrics::Accuracy{}}).metrics.at("accuracy");
  const double of_model = model.evaluate(data, {nn::metrics::Accuracy{}}).metrics.at("accuracy");
  std::cout << "right answers: the line " << 4 * of_line << " of 4, the network " << 4 * of_model
            << " of 4\n";
  return of_model == 1 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
